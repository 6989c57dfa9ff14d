import { type LogFn, type Logger, pino } from 'pino';
import { systemClock } from './clock.js';
import { LogLimit } from './log-limit.js';
import { LogOutput } from './log-output.js';

/** The log interface of the parts of the service; pino's logger fits. A part asks only for the levels that it uses. */
export interface Log {
  info(fields: object, text: string): void;
  warn(fields: object, text: string): void;
  error(fields: object, text: string): void;
}

/** The values of LOG_LEVEL. */
export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

/** A key, or most of one, also percent-encoded; the part that people see to recognize a key is shorter. */
const KEY = /svc(?:_|%5f)[0-9a-z%]{8,}/gi;

/** pino's level `warn`. */
const WARN = 40;

/**
 * The log of a process: JSON lines on stderr, without keys that clients sent in the wrong place (a device id, a path).
 * Of one kind of fault, only a few lines per second are written, then the number of further ones. The process continues
 * if lines cannot be written.
 */
export function processLog(level: string): Logger {
  const limit = new LogLimit(systemClock);
  const streamWrite = (line: string) => line.replace(KEY, 'svc_[cut]');
  function logMethod(this: Logger, line: Parameters<LogFn>, method: LogFn, severity: number) {
    const text = line.find((each) => typeof each === 'string') ?? '';
    const tell = (times: number) => method.apply(this, [{ times }, text]);
    if (severity < WARN || limit.admits(text, tell)) method.apply(this, line);
  }
  const output = new LogOutput((lines) => log.error({ lines }, 'log lines lost since the start: stderr took no more'));
  const log = pino({ level, hooks: { streamWrite, logMethod } }, output);
  return log;
}
