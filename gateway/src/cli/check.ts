import { existsSync } from 'node:fs';
import { access, constants } from 'node:fs/promises';
import { createServer } from 'node:http';
import { dirname, join, resolve } from 'node:path';
import { systemClock } from '@device-insights/fanout/platform/clock';
import { listen } from '@device-insights/fanout/platform/http-server';
import { processLog } from '@device-insights/fanout/platform/log';
import { messageOf } from '@device-insights/fanout/platform/message-of';
import { Command } from 'commander';
import { type Config, misspeltVariables, processConfig } from '../config.js';
import { FILE } from '../store/embedded/embedded.js';
import { openStore } from '../store/open.js';
import { runAndExit } from './run-command.js';

/** Time that Redis has to answer, ms. */
const BUS_MS = 3000;

/** Describes what a part of the service would do; rejects with the reason if it would not work. */
type Check = (config: Config) => Promise<string>;

const CHECKS: Readonly<Record<string, Check>> = {
  store: checkStore,
  bus: checkBus,
  port: ({ host, port }) => free(host, port, 'PORT'),
  metrics: async ({ metricsHost, metricsPort }) =>
    metricsPort === null ? 'none: METRICS_PORT is not set' : free(metricsHost, metricsPort, 'METRICS_PORT'),
};

async function checkStore(config: Config): Promise<string> {
  const { mongodbUri, dataDir } = config;
  if (mongodbUri === null && !existsSync(join(dataDir, FILE))) {
    await access(existing(dataDir), constants.W_OK);
    return `would be made in ${resolve(dataDir)}`;
  }
  const store = await openStore(config, systemClock);
  await store.close();
  return mongodbUri === null ? `${resolve(dataDir, FILE)} is ready` : 'MongoDB is ready';
}

/** The nearest folder that exists. */
function existing(folder: string): string {
  const path = resolve(folder);
  return existsSync(path) ? path : existing(dirname(path));
}

async function checkBus({ redisUrl }: Config): Promise<string> {
  if (redisUrl === null)
    return 'inside the process: without REDIS_URL there are no other gateways and no fan-out nodes';
  const { createRedisBus } = await import('@device-insights/fanout/bus/redis');
  const bus = await createRedisBus({ url: redisUrl, log: processLog('silent'), serves: false });
  try {
    await bus.probe(BUS_MS);
    return 'Redis is ready';
  } finally {
    await bus.close();
  }
}

async function free(host: string, port: number, variable: string): Promise<string> {
  const server = createServer();
  await listen(server, host, port, variable);
  await new Promise((done) => server.close(done));
  return `${host}:${port} is free`;
}

async function main(): Promise<void> {
  const config = await processConfig();
  for (const line of misspeltVariables()) console.log(`warning: ${line}`);
  for (const [name, check] of Object.entries(CHECKS)) {
    const said = await check(config).catch((error: unknown) => {
      process.exitCode = 1;
      return `FAILED: ${messageOf(error)}`;
    });
    console.log(`${name}: ${said}`);
  }
}

const command = new Command('device-insights check')
  .description(
    'Checks the configuration of "device-insights start", and connects to what it names: store, Redis, ports. It changes nothing, and prints one line for each part. The exit code is 1 if the service would not start or not work.',
  )
  .action(main);

runAndExit(command);
