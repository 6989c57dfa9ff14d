import { pino } from 'pino';
import { ConfigError, processConfig } from './config.js';
import { type Service, startService } from './service.js';

/** A stop that takes longer than this is given up, ms. */
const STOP_WITHIN = 9500;

async function start(): Promise<void> {
  const config = processConfig();
  const log = pino({ level: config.logLevel }, pino.destination({ dest: 2, sync: true }));
  const service = await startService(config, log);
  if (service.newKey) console.log(`API key of the account default, shown this once: ${service.newKey}`);
  if (service.metricsUrl) console.log(`metrics on ${service.metricsUrl}`);
  console.log(`listening on ${service.url}`);
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => stop(service));
}

function stop(service: Service): void {
  console.log('stopping: nothing new is accepted, what came in is stored and published');
  setTimeout(() => fail(`not stopped within ${STOP_WITHIN} ms`), STOP_WITHIN).unref();
  service.stop().then(() => process.exit(0), fail);
}

function fail(error: unknown): never {
  if (error instanceof ConfigError) for (const fault of error.faults) console.error(`configuration: ${fault}`);
  else console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}

start().catch(fail);
