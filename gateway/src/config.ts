import { userInfo } from 'node:os';
import { isKey } from '@device-insights/fanout/api-key';
import { ConfigError } from '@device-insights/fanout/platform/config-error';
import { misspelt, variablesOf } from '@device-insights/fanout/platform/environment';
import { LOG_LEVELS } from '@device-insights/fanout/platform/log';
import { isRedisUrls, REDIS_URL_RULE } from '@device-insights/fanout/redis-urls';
import { z } from 'zod';
import { PASSWORD_LENGTH } from './operators/password.js';

/** Default share of a process's sessions that one account may have, so that other accounts find room. */
const ACCOUNT_SHARE = 0.75;

const PASSWORD_RULE = `must have ${PASSWORD_LENGTH.min} to ${PASSWORD_LENGTH.max} characters`;

/** A text that nothing was added to, as a file of variables with Windows line ends does. */
const trimmed = z.string().regex(/^\S(.*\S)?$/s, {
  error: 'must not begin or end with a space or a line end; a file of variables may have Windows line ends',
  abort: true,
});

/** A whole number in the text of a variable. */
const whole = (least: number, most: number) =>
  z
    .string()
    .regex(/^\d{1,15}$/, `must be a whole number from ${least} to ${most}`)
    .transform(Number)
    .refine((n) => n >= least && n <= most, `must be a whole number from ${least} to ${most}`);

const MONGODB_URI_RULE =
  'must be a mongodb:// or mongodb+srv:// URI; write special characters of its user and password as %XX, so % as %25';

const mongoUri = z.string().superRefine(async (uri, { addIssue }) => {
  const { faultOfMongoUri } = await import('./store/mongo/address.js'); // Only here: the driver takes long to load.
  const fault = faultOfMongoUri(uri);
  if (fault !== null) addIssue(`${MONGODB_URI_RULE} (${fault})`);
  else if (!/^[^/]+\/\/[^/?]+\/[^?]/.test(uri))
    addIssue('must name its database, as in mongodb://HOST/device-insights; otherwise the driver uses "test"');
});

/** Every variable, with its description for the help. An empty one counts as not set. */
const Environment = z
  .object({
    HOST: trimmed.default('127.0.0.1').describe('address to listen on; 0.0.0.0 for devices on the network'),
    PORT: whole(0, 65_535).default(8080).describe('port of REST and of both sockets; 0 means any free port'),
    DATA_DIR: trimmed.default('./data').describe('directory of the embedded store'),
    MONGODB_URI: mongoUri
      .optional()
      .describe('address of MongoDB (a replica set), to use it instead of the embedded store'),
    REDIS_URL: z
      .string()
      .refine(isRedisUrls, REDIS_URL_RULE)
      .optional()
      .describe('address of Redis, the bus between gateways and fan-out nodes'),
    FANOUT_MOUNTED: z
      .enum(['true', 'false'], 'must be true or false')
      .default('true')
      .describe('whether the gateway serves /stream/subscribe itself'),
    METRICS_PORT: whole(0, 65_535).optional().describe('port of /metrics, /healthz, /readyz and /livez'),
    METRICS_HOST: trimmed.optional().describe('address for that port; default: that of HOST'),
    SESSION_GRACE_MS: whole(0, 86_400_000)
      .default(60_000)
      .describe('how long a session waits for its device to reconnect, ms'),
    BOOTSTRAP_API_KEY: z
      .string()
      .refine(isKey, 'must be svc_ and 22 to 128 letters and digits')
      .optional()
      .describe('an API key for the account default, which is created if it does not exist'),
    MAX_SESSIONS: whole(1, 20_000)
      .default(2000)
      .describe('maximum number of sessions that one process analyses at the same time'),
    MAX_ACCOUNT_SESSIONS: whole(1, 20_000)
      .optional()
      .describe('maximum number of these sessions for one account; default: three quarters of them'),
    MAX_DAILY_SESSIONS: whole(1, 1_000_000_000)
      .default(100_000)
      .describe('maximum number of sessions that one account opens on this process per day'),
    RETENTION_DAYS: whole(1, 36_500)
      .optional()
      .describe('days for which sessions and insights are kept; default: until they are erased'),
    SHUTDOWN_DELAY_MS: whole(0, 60_000)
      .default(0)
      .describe('time after SIGTERM for which everything is still served while /readyz is 503, ms'),
    DRAIN_MS: whole(0, 8000)
      .default(1000)
      .describe("time over which the subscribers' sockets are closed during shutdown, ms"),
    DASHBOARD: z
      .enum(['on', 'off'], 'must be on or off')
      .default('on')
      .describe('off disables the dashboard, and /docs and /asyncapi.json with it'),
    DASHBOARD_PASSWORD: trimmed
      .min(PASSWORD_LENGTH.min, PASSWORD_RULE)
      .max(PASSWORD_LENGTH.max, PASSWORD_RULE)
      .optional()
      .describe("password of the dashboard's first operator, admin"),
    LOG_LEVEL: z
      .enum(LOG_LEVELS, `must be one of ${LOG_LEVELS.join(', ')}`)
      .default('info')
      .describe(LOG_LEVELS.join(', ')),
  })
  .refine(({ FANOUT_MOUNTED, REDIS_URL }) => FANOUT_MOUNTED === 'true' || REDIS_URL !== undefined, {
    path: ['FANOUT_MOUNTED'],
    error:
      'is false, but REDIS_URL is not set, so nobody could subscribe: set REDIS_URL to the Redis of the fan-out nodes, or FANOUT_MOUNTED to true',
  });

/** The variables whose value can be in a file instead, which `NAME_FILE` names. */
const SECRETS = ['MONGODB_URI', 'REDIS_URL', 'BOOTSTRAP_API_KEY', 'DASHBOARD_PASSWORD'] as const;

/** The help text: every variable with its description and default, one a line. */
export function configHelp(): string {
  const defaults: Readonly<Record<string, unknown>> = Environment.parse({});
  const lines = Object.entries(Environment.shape).map(([name, { description }]) => {
    const fallback = defaults[name] === undefined ? '' : ` [${defaults[name]}]`;
    return `  ${name.padEnd(20)}  ${description}${fallback}`;
  });
  return `${lines.join('\n')}\n\n${SECRETS.join(', ')}: NAME_FILE can name a file that holds the value instead`;
}

/**
 * Reads the configuration from environment variables; an empty variable counts as not set.
 * @throws ConfigError listing every variable that is not valid
 */
export async function parseConfig(environment: Readonly<Record<string, string | undefined>>) {
  const { data: e, error } = await Environment.safeParseAsync(variablesOf(environment, SECRETS));
  if (error) throw new ConfigError(error.issues.map(({ path, message }) => `${path.join('.')} ${message}`));
  return {
    host: e.HOST,
    port: e.PORT,
    dataDir: e.DATA_DIR,
    mongodbUri: e.MONGODB_URI ?? null,
    redisUrl: e.REDIS_URL ?? null,
    fanoutMounted: e.FANOUT_MOUNTED === 'true',
    metricsPort: e.METRICS_PORT ?? null,
    metricsHost: e.METRICS_HOST ?? e.HOST,
    sessionGraceMs: e.SESSION_GRACE_MS,
    bootstrapApiKey: e.BOOTSTRAP_API_KEY ?? null,
    maxSessions: e.MAX_SESSIONS,
    maxAccountSessions: e.MAX_ACCOUNT_SESSIONS ?? Math.max(1, Math.floor(ACCOUNT_SHARE * e.MAX_SESSIONS)),
    maxDailySessions: e.MAX_DAILY_SESSIONS,
    retentionDays: e.RETENTION_DAYS ?? null,
    shutdownDelayMs: e.SHUTDOWN_DELAY_MS,
    drainMs: e.DRAIN_MS,
    dashboard: e.DASHBOARD === 'on',
    dashboardPassword: e.DASHBOARD_PASSWORD ?? null,
    logLevel: e.LOG_LEVEL,
  };
}

/** Everything that can be configured, checked: `Environment` says what each value means. Times in ms; null: not set. */
export type Config = Readonly<Awaited<ReturnType<typeof parseConfig>>>;

/**
 * The configuration of this process.
 * @param defaults for variables that are not set
 * @param overrides values that replace those of the environment
 */
export function processConfig(
  defaults: Readonly<Record<string, string>> = {},
  overrides: Readonly<Record<string, string>> = {},
): Promise<Config> {
  return parseConfig({ ...defaults, ...process.env, ...overrides });
}

/** A line for each variable of this process whose name is probably a misspelt one of the configuration. */
export function misspeltVariables(): string[] {
  return misspelt(process.env, Object.keys(Environment.shape), SECRETS);
}

/** Who runs the command, for the audit log: the user of the system, also behind sudo. */
export function systemUser(): string {
  if (process.env.SUDO_USER) return process.env.SUDO_USER;
  try {
    return userInfo().username;
  } catch {
    return `user ${process.getuid?.()}`; // A container may have no name for it.
  }
}
