import { z } from 'zod';
import { isKey } from './keys.js';

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

/** A whole number in a variable's text. */
const whole = (least: number, most: number) =>
  z
    .string()
    .regex(/^\d{1,15}$/, `must be a whole number from ${least} to ${most}`)
    .transform(Number)
    .refine((n) => n >= least && n <= most, `must be a whole number from ${least} to ${most}`);

const Environment = z.object({
  HOST: z.string().default('127.0.0.1'),
  PORT: whole(0, 65_535).default(8080),
  DATA_DIR: z.string().default('./data'),
  MONGODB_URI: z
    .string()
    .regex(/^mongodb(\+srv)?:\/\/./, 'must begin with mongodb:// or mongodb+srv://')
    .optional(),
  REDIS_URL: z
    .string()
    .regex(
      /^rediss?:\/\/[^,]+(,rediss?:\/\/[^,]+)*$/,
      'must be a redis:// or rediss:// URL (several of a cluster, separated by commas)',
    )
    .optional(),
  FANOUT_MOUNTED: z.enum(['true', 'false'], 'must be true or false').default('true'),
  FANOUT_FLUSH_MS: whole(0, 1000).default(0),
  METRICS_PORT: whole(0, 65_535).optional(),
  SESSION_GRACE_MS: whole(0, 86_400_000).default(60_000),
  BOOTSTRAP_API_KEY: z.string().refine(isKey, 'must be svc_ and 22 to 128 letters and digits').optional(),
  MAX_SESSIONS: whole(1, 20_000).default(1024),
  DRAIN_MS: whole(0, 8000).default(1000),
  LOG_LEVEL: z.enum(LOG_LEVELS, `must be one of ${LOG_LEVELS.join(', ')}`).default('info'),
});

/** Everything that can be set from outside, checked. Times in ms. */
export interface Config {
  readonly host: string;
  /** 0 is any free port. */
  readonly port: number;
  /** Where the embedded store lives. */
  readonly dataDir: string;
  /** MongoDB in place of the embedded store. */
  readonly mongodbUri: string | null;
  /** The bus between gateways and fan-out nodes; null keeps it inside this process. */
  readonly redisUrl: string | null;
  /** Whether this process serves subscribers too. */
  readonly fanoutMounted: boolean;
  /** How long live insights are gathered before they go out. */
  readonly fanoutFlushMs: number;
  /** Port of /metrics and /healthz; null serves neither. */
  readonly metricsPort: number | null;
  readonly sessionGraceMs: number;
  /** A key of the account `default`, made at start where it does not exist. */
  readonly bootstrapApiKey: string | null;
  /** Sessions that one process analyses at once. */
  readonly maxSessions: number;
  /** Over how long the subscribers' sockets are closed at the end. */
  readonly drainMs: number;
  readonly logLevel: (typeof LOG_LEVELS)[number];
}

/** What is wrong with the environment: one line a fault. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';

  constructor(readonly faults: readonly string[]) {
    super(faults.join('\n'));
  }
}

/**
 * Reads the configuration from environment variables; an empty one counts as not set.
 * @throws ConfigError naming every variable that is wrong
 */
export function parseConfig(environment: Readonly<Record<string, string | undefined>>): Config {
  const set = Object.fromEntries(
    Object.entries(environment).filter(([, value]) => value !== undefined && value !== ''),
  );
  const { data: e, error } = Environment.safeParse(set);
  if (error) throw new ConfigError(error.issues.map(({ path, message }) => `${path.join('.')} ${message}`));
  return {
    host: e.HOST,
    port: e.PORT,
    dataDir: e.DATA_DIR,
    mongodbUri: e.MONGODB_URI ?? null,
    redisUrl: e.REDIS_URL ?? null,
    fanoutMounted: e.FANOUT_MOUNTED === 'true',
    fanoutFlushMs: e.FANOUT_FLUSH_MS,
    metricsPort: e.METRICS_PORT ?? null,
    sessionGraceMs: e.SESSION_GRACE_MS,
    bootstrapApiKey: e.BOOTSTRAP_API_KEY ?? null,
    maxSessions: e.MAX_SESSIONS,
    drainMs: e.DRAIN_MS,
    logLevel: e.LOG_LEVEL,
  };
}

/**
 * The configuration of this process.
 * @param defaults for variables that are not set
 * @param overrides instead of whatever is set
 */
export function processConfig(
  defaults: Readonly<Record<string, string>> = {},
  overrides: Readonly<Record<string, string>> = {},
): Config {
  return parseConfig({ ...defaults, ...process.env, ...overrides });
}
