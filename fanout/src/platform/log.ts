import { type DestinationStream, type LogFn, type Logger, pino } from 'pino';
import { systemClock } from './clock.js';
import { LogLimit } from './log-limit.js';

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
/** Bytes of lines that may wait; beyond, further lines are lost. */
const MOST_WAITING = 4 * 1024 * 1024;
/** Interval at which waiting lines are tried again, ms. */
const RETRY_MS = 10;
/** The end of the process waits for a slow reader, but not for one that has taken nothing for so long, ms. */
const STALLED_MS = 2000;

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
  const log = pino(
    { level, hooks: { streamWrite, logMethod } },
    output((lines) => log.error({ lines }, 'log lines lost since the start: stderr accepted no more')),
  );
  return log;
}

/**
 * Standard error, as pino writes it, but lines that it does not take now, because the disk is full or nobody reads the pipe,
 * wait in memory: the work of a process must not depend on its log. Only a terminal can hold it: its user is there.
 *
 * @param tell called with the number of lines lost since the start, once lines can be written again
 */
function output(tell: (lost: number) => void): DestinationStream {
  void process.stderr; // Node opens it here, and so that a full pipe or socket answers EAGAIN instead of blocking.
  let [lost, told, isEnding] = [0, 0, false];
  let taken = { left: Number.POSITIVE_INFINITY, at: 0 };
  const retryEAGAIN = (_error: Error, writing: number, behind: number) => {
    if (writing + behind < taken.left) taken = { left: writing + behind, at: performance.now() };
    return isEnding && performance.now() - taken.at < STALLED_MS;
  };
  const waiting = { minLength: 1, maxLength: MOST_WAITING, retryEAGAIN };
  const stream = pino.destination({ dest: 2, sync: true, ...waiting });
  let isStuck = false;
  const retry = () => {
    isStuck = false;
    stream.flush();
  };
  stream.on('error', () => {
    if (!isStuck && !isEnding) setTimeout(retry, RETRY_MS).unref();
    isStuck = true;
  });
  stream.on('drop', () => {
    lost += 1;
  });
  stream.on('drain', () => {
    if (isStuck || lost === told) return;
    told = lost;
    tell(lost);
  });
  process.on('exit', () => {
    isEnding = true;
    taken = { left: Number.POSITIVE_INFINITY, at: 0 };
    stream.flush();
  });
  // Without `flushSync`, which pino calls for `fatal`: it tries for good on a full disk.
  return { write: (line) => void stream.write(line) };
}
