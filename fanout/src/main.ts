#!/usr/bin/env node
import { configHelp, misspeltVariables, type NodeConfig, parseConfig } from './config.js';
import { ConfigError } from './platform/config-error.js';
import { ListenError } from './platform/http-server.js';
import { surviveConnections } from './platform/last-resort.js';
import { processLog } from './platform/log.js';
import { onlyOnce } from './platform/only-once.js';
import { tellSystemd } from './platform/supervisor.js';
import { COMMIT, VERSION } from './platform/version.js';
import { startNode } from './standalone.js';

/** A stand-alone fan-out node, as a process: configured by the environment, ends with an exit code. */
async function main(): Promise<void> {
  const config = configOrExit();
  const log = processLog(config.logLevel);
  log.info({ version: VERSION, commit: COMMIT, node: process.version }, 'the fan-out node is starting');
  for (const line of misspeltVariables(process.env)) log.warn({}, line);
  surviveConnections(log);
  const node = await startNode(config, log).catch((error: unknown) => {
    if (error instanceof ListenError) console.error(error.message);
    log.fatal({ err: error }, 'the node could not start');
    process.exit(1);
  });
  log.info({ port: node.port, metricsPort: node.metricsPort }, 'fan-out node is listening');
  tellSystemd(log);
  const stop = onlyOnce(() => {
    node.stop().then(
      () => process.exit(0),
      (error: unknown) => {
        log.error({ err: error }, 'the node could not drain');
        process.exit(1);
      },
    );
  });
  process.on('SIGTERM', stop); // A supervisor may repeat it; the drain continues.
  process.on('SIGHUP', stop); // The terminal has closed.
  process.once('SIGINT', stop); // A second Ctrl-C ends the process at once.
}

function configOrExit(): NodeConfig {
  try {
    return parseConfig(process.env);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    for (const fault of error.faults) console.error(`configuration: ${fault}`);
    process.exit(1);
  }
}

const HELP = `device-insights fanout [--help | --version]

Starts a fan-out node of the Device Insights Service. Environment variables configure it, with these defaults:

${configHelp()}`;

const option = process.argv[2];
if (option === '--version') console.log(`${VERSION} (commit ${COMMIT})`);
else if (option === '--help' || option === '-h') console.log(HELP);
else if (option !== undefined) {
  console.error(`there is no option ${option}; see --help`);
  process.exit(1);
} else await main();
