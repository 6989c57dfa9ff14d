import { surviveConnections } from '@device-insights/fanout/platform/last-resort';
import { processLog } from '@device-insights/fanout/platform/log';
import { fail, runProgram, stopOnSignal } from '@device-insights/fanout/platform/program';
import { tellSystemd } from '@device-insights/fanout/platform/supervisor';
import { COMMIT, VERSION } from '@device-insights/fanout/platform/version';
import { configHelp, misspeltVariables, processConfig } from './config.js';
import { startService } from './service.js';
import { VERSION as SCHEMA_VERSION } from './store/embedded/schema.js';

/** Maximum time for stopping after the shutdown delay; after it the process exits, ms. */
const STOP_WITHIN_MS = 9500;

async function start(): Promise<void> {
  const config = await processConfig();
  const log = processLog(config.logLevel);
  for (const line of misspeltVariables()) log.warn(line);
  surviveConnections(log);
  // A signal during the start waits for its end, so that no new key is stored without being shown.
  stopOnSignal(async () => {
    console.log('stopping: received data are stored and published');
    const within = config.shutdownDelayMs + STOP_WITHIN_MS;
    setTimeout(() => fail(`the service did not stop within ${within} ms`), within).unref();
    await (await starting).stop();
  });
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

const HELP = `device-insights start [--help | --version]

Starts the Device Insights Service. Environment variables configure it, with these defaults:

${configHelp()}`;

runProgram(HELP, `${VERSION} (commit ${COMMIT}, schema ${SCHEMA_VERSION})`, start);
