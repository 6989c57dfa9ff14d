import type { Clock } from '@device-insights/fanout/platform/clock';
import type { Log } from '@device-insights/fanout/platform/log';
import { LogLimit } from '@device-insights/fanout/platform/log-limit';

/** Maximum number of lines of one text per second; further ones are counted. */
const LINES = 100;

/** Writes lines that clients can cause at any rate, with the limit of `LINES`. */
export function infoLines(log: Pick<Log, 'info'>, clock: Clock): Log['info'] {
  const limit = new LogLimit(clock, LINES);
  return (fields, text) => {
    if (limit.admits(text, (times) => log.info({ times }, `repeated: ${text}`))) log.info(fields, text);
  };
}
