import type { Logger } from 'pino';

/** Errors of one connection when its peer disconnects, or when it is used after that. */
const OF_ONE_CONNECTION: ReadonlySet<unknown> = new Set([
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTCONN',
  'ERR_STREAM_DESTROYED',
  'ERR_STREAM_PREMATURE_CLOSE',
  'ERR_STREAM_WRITE_AFTER_END',
]);

/**
 * The last line of defence of a process: an unhandled error of one connection is logged and does not affect the others;
 * any other unhandled error ends the process, with its cause in the log. Output that cannot be written is no such error.
 */
export function surviveConnections(log: Pick<Logger, 'error' | 'fatal'>): void {
  for (const output of [process.stdout, process.stderr]) output.on('error', ignore);
  process.on('uncaughtException', (err: unknown) => {
    if (!isOfOneConnection(err)) {
      try {
        log.fatal({ err }, 'the process ends because of an unhandled error');
      } finally {
        process.exit(1);
      }
    }
    log.error({ err }, 'unhandled error of one connection; the other connections continue');
  });
}

const ignore = () => undefined;

function isOfOneConnection(error: unknown): boolean {
  return error instanceof Error && 'code' in error && OF_ONE_CONNECTION.has(error.code);
}
