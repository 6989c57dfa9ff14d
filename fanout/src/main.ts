#!/usr/bin/env node
import { pino } from 'pino';
import { BadConfig, type NodeConfig, readConfig } from './config.js';
import { startNode } from './standalone.js';

/** A stand-alone fan-out node, as a process: environment in, exit code out. */
async function main(): Promise<void> {
  const config = configOrExit();
  const log = pino({ level: config.logLevel });
  const node = await startNode(config, log).catch((error: unknown) => {
    log.fatal({ err: error }, 'the node could not start');
    process.exit(1);
  });
  log.info({ port: node.port, metricsPort: node.metricsPort }, 'fan-out node is listening');
  const stop = () => {
    node.stop().then(
      () => process.exit(0),
      (error: unknown) => {
        log.error({ err: error }, 'the node could not drain');
        process.exit(1);
      },
    );
  };
  process.once('SIGTERM', stop);
  process.once('SIGINT', stop);
}

function configOrExit(): NodeConfig {
  try {
    return readConfig(process.env);
  } catch (error) {
    if (!(error instanceof BadConfig)) throw error;
    console.error(error.message);
    process.exit(1);
  }
}

await main();
