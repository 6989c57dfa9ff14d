import type { Log } from './log.js';

const ignore = () => undefined;

/** A log that discards everything. */
export const silentLog: Log = { info: ignore, warn: ignore, error: ignore };
