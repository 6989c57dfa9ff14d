import { isRedisUrls, REDIS_URL_RULE } from './redis-urls.js';

/** The configuration of a stand-alone fan-out node. */
export interface NodeConfig {
  readonly host: string;
  readonly port: number;
  /** Port of /metrics and /healthz; undefined disables both. */
  readonly metricsPort: number | undefined;
  readonly redisUrl: string;
  readonly logLevel: string;
  /** Time after SIGTERM for which subscribers are still served while the health check fails, ms. */
  readonly shutdownDelayMs: number;
  /** Time over which a draining node closes its sockets, ms. */
  readonly drainMs: number;
  readonly flushMs: number;
  readonly maxLagMs: number;
  readonly maxBufferedBytes: number;
}

/** The faults of the configuration, one line each. */
export class BadConfig extends Error {
  override readonly name = 'BadConfig';

  constructor(readonly faults: readonly string[]) {
    super(faults.join('\n'));
  }
}

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'];

/** Reads the environment; throws `BadConfig`. An empty variable counts as not set. */
export function readConfig(env: NodeJS.ProcessEnv): NodeConfig {
  const faults: string[] = [];
  const number = (name: string, fallback: number, max: number) => {
    const text = env[name] || `${fallback}`;
    if (!/^\d+$/.test(text) || Number(text) > max)
      faults.push(`${name} must be a whole number from 0 to ${max}, not "${text}"`);
    return Number(text);
  };
  const config: NodeConfig = {
    host: env.HOST || '127.0.0.1',
    port: number('PORT', 8090, 65_535),
    metricsPort: env.METRICS_PORT ? number('METRICS_PORT', 0, 65_535) : undefined,
    redisUrl: env.REDIS_URL ?? '',
    logLevel: env.LOG_LEVEL || 'info',
    shutdownDelayMs: number('SHUTDOWN_DELAY_MS', 0, 60_000),
    drainMs: number('DRAIN_MS', 3000, 600_000),
    flushMs: number('FANOUT_FLUSH_MS', 0, 1000),
    maxLagMs: number('FANOUT_MAX_LAG_MS', 10_000, 600_000),
    maxBufferedBytes: number('FANOUT_MAX_BUFFERED_BYTES', 4 * 1024 * 1024, 1024 ** 3),
  };
  if (!isRedisUrls(config.redisUrl)) faults.push(`REDIS_URL ${REDIS_URL_RULE}; a fan-out node needs it`);
  if (!LOG_LEVELS.includes(config.logLevel)) faults.push(`LOG_LEVEL must be one of ${LOG_LEVELS.join(', ')}`);
  if (faults.length > 0) throw new BadConfig(faults);
  return config;
}
