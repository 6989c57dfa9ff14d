import { ConfigError } from '@device-insights/fanout/platform/config-error';
import { surviveConnections } from '@device-insights/fanout/platform/last-resort';
import { processLog } from '@device-insights/fanout/platform/log';
import { messageOf } from '@device-insights/fanout/platform/message-of';
import { onlyOnce } from '@device-insights/fanout/platform/only-once';
import { tellSystemd } from '@device-insights/fanout/platform/supervisor';
import { COMMIT, VERSION } from '@device-insights/fanout/platform/version';
import { configHelp, misspeltVariables, processConfig } from './config.js';
import { type Service, startService } from './service.js';
import { VERSION as SCHEMA_VERSION } from './store/embedded/schema.js';

/** Maximum time for stopping after the shutdown delay; after it the process exits, ms. */
const STOP_WITHIN_MS = 9500;

async function start(): Promise<void> {
  const config = await processConfig();
  const log = processLog(config.logLevel);
  for (const line of misspeltVariables()) log.warn(line);
  surviveConnections(log);
  // A signal during the start waits for its end, so that no new key is stored without being shown.
  const stop = onlyOnce(() => stopService(starting, config.shutdownDelayMs));
  process.on('SIGTERM', stop); // A supervisor may repeat it; the drain continues.
  process.on('SIGHUP', stop); // The terminal has closed.
  process.once('SIGINT', stop); // A second Ctrl-C ends the process at once.
  const starting = startService(config, log, (line) => console.log(line));
  const service = await starting.catch((error: unknown) => {
    log.fatal({ err: error }, 'the service could not start');
    throw error;
  });
  if (service.dashboardUrl) console.log(`dashboard on ${service.dashboardUrl}`);
  if (service.metricsUrl) console.log(`metrics on ${service.metricsUrl}/metrics`);
  console.log(`listening on ${service.url}`);
  tellSystemd(log);
}

function stopService(starting: Promise<Service>, delayMs: number): void {
  console.log('stopping: received data are stored and published');
  const within = delayMs + STOP_WITHIN_MS;
  setTimeout(() => fail(`the service did not stop within ${within} ms`), within).unref();
  starting.then((service) => service.stop()).then(() => process.exit(0), fail);
}

function fail(error: unknown): never {
  if (error instanceof ConfigError) for (const fault of error.faults) console.error(`configuration: ${fault}`);
  else console.error(messageOf(error));
  process.exit(1);
}

const HELP = `device-insights start [--help | --version]

Starts the Device Insights Service. Environment variables configure it, with these defaults:

${configHelp()}`;

if (process.argv[2] === '--version') console.log(`${VERSION} (commit ${COMMIT}, schema ${SCHEMA_VERSION})`);
else if (process.argv[2] === '--help' || process.argv[2] === '-h') console.log(HELP);
else if (process.argv[2] !== undefined) fail(new Error(`there is no option ${process.argv[2]}; see --help`));
else start().catch(fail);
