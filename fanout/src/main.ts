#!/usr/bin/env node
import { configHelp, misspeltVariables, parseConfig } from './config.js';
import { surviveConnections } from './platform/last-resort.js';
import { processLog } from './platform/log.js';
import { runProgram, stopOnSignal } from './platform/program.js';
import { tellSystemd } from './platform/supervisor.js';
import { COMMIT, VERSION } from './platform/version.js';
import { startNode } from './standalone.js';

/** A stand-alone fan-out node, as a process: configured by the environment, ends with an exit code. */
async function start(): Promise<void> {
  const config = parseConfig(process.env);
  const log = processLog(config.logLevel);
  log.info({ version: VERSION, commit: COMMIT, node: process.version }, 'the fan-out node is starting');
  for (const line of misspeltVariables(process.env)) log.warn({}, line);
  surviveConnections(log);
  const node = await startNode(config, log).catch((error: unknown) => {
    log.fatal({ err: error }, 'the node could not start');
    throw error;
  });
  log.info({ port: node.port, metricsPort: node.metricsPort }, 'fan-out node is listening');
  tellSystemd(log);
  stopOnSignal(() => node.stop());
}

const HELP = `device-insights fanout [--help | --version]

Starts a fan-out node of the Device Insights Service. Environment variables configure it, with these defaults:

${configHelp()}`;

runProgram(HELP, `${VERSION} (commit ${COMMIT})`, start);
