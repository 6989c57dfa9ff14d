import { ConfigError } from './platform/config-error.js';
import { misspelt, variablesOf } from './platform/environment.js';
import { LOG_LEVELS } from './platform/log.js';
import { isRedisUrls, REDIS_URL_RULE } from './redis-urls.js';

/** Defaults of the variables, and descriptions for the help. */
const VARIABLES = {
  REDIS_URL: ['', 'address of Redis, the bus between gateways and fan-out nodes; required'],
  HOST: ['127.0.0.1', 'address to listen on; 0.0.0.0 for apps on the network'],
  PORT: ['8090', "port of the subscribers' sockets; 0 means any free port"],
  METRICS_PORT: ['', 'port of /metrics, /healthz, /readyz and /livez'],
  METRICS_HOST: ['', 'address for that port; default: that of HOST'],
  FANOUT_MAX_LAG_MS: ['10000', 'maximum lag of a subscriber, ms; beyond it the subscriber is closed (1013)'],
  FANOUT_MAX_BUFFERED_BYTES: [
    `${4 * 1024 * 1024}`,
    'maximum unread data of a subscriber, bytes; beyond it the subscriber is closed (1013)',
  ],
  SHUTDOWN_DELAY_MS: ['0', 'time after SIGTERM for which everything is still served while /readyz is 503, ms'],
  DRAIN_MS: ['3000', "time over which the subscribers' sockets are closed during shutdown, ms"],
  LOG_LEVEL: ['info', LOG_LEVELS.join(', ')],
} satisfies Record<string, [fallback: string, meaning: string]>;

/** The variable whose value can be in a file instead, which `NAME_FILE` names. */
const SECRETS = ['REDIS_URL'];

/** The help text: every variable with its description and default, one a line. */
export function configHelp(): string {
  const lines = Object.entries(VARIABLES).map(([name, [fallback, meaning]]) => {
    return `  ${name.padEnd(25)}  ${meaning}${fallback && ` [${fallback}]`}`;
  });
  return `${lines.join('\n')}\n\nREDIS_URL_FILE can name a file that holds REDIS_URL instead`;
}

/** Reads the environment; throws `ConfigError`. An empty variable counts as not set. */
export function parseConfig(env: NodeJS.ProcessEnv) {
  const faults: string[] = [];
  const set = variablesOf(env, SECRETS);
  const text = (name: keyof typeof VARIABLES) => set[name] ?? VARIABLES[name][0];
  const number = (name: keyof typeof VARIABLES, max: number) => {
    const digits = text(name);
    if (!/^\d+$/.test(digits) || Number(digits) > max)
      faults.push(`${name} must be a whole number from 0 to ${max}, not "${digits}"`);
    return Number(digits);
  };
  const config = {
    host: text('HOST'),
    port: number('PORT', 65_535),
    metricsPort: text('METRICS_PORT') ? number('METRICS_PORT', 65_535) : undefined,
    metricsHost: text('METRICS_HOST') || text('HOST'),
    redisUrl: text('REDIS_URL'),
    logLevel: text('LOG_LEVEL'),
    shutdownDelayMs: number('SHUTDOWN_DELAY_MS', 60_000),
    drainMs: number('DRAIN_MS', 600_000),
    maxLagMs: number('FANOUT_MAX_LAG_MS', 600_000),
    maxBufferedBytes: number('FANOUT_MAX_BUFFERED_BYTES', 1024 ** 3),
  };
  if (!isRedisUrls(config.redisUrl)) faults.push(`REDIS_URL ${REDIS_URL_RULE}; a fan-out node needs it`);
  if (!LOG_LEVELS.some((level) => level === config.logLevel))
    faults.push(`LOG_LEVEL must be one of ${LOG_LEVELS.join(', ')}`);
  if (faults.length > 0) throw new ConfigError(faults);
  return config;
}

/** The configuration of a stand-alone fan-out node: `VARIABLES` says what each value means. */
export type NodeConfig = Readonly<ReturnType<typeof parseConfig>>;

/** A line for each variable whose name is probably a misspelt one of the configuration. */
export const misspeltVariables = (env: NodeJS.ProcessEnv): string[] => misspelt(env, Object.keys(VARIABLES), SECRETS);
