/*
 * The times, sizes and numbers of the clients. This file has no imports, so that bundlers write its numbers where they
 * are used.
 */

/** The longest time for a timer of the runtime, ms (24 days): it runs those for longer times at once. */
export const LONGEST_MS = 2 ** 31 - 1;
/**
 * The years 2000 to 2099 in seconds since the epoch; in ms they are days of January and February 1970, which a device
 * whose clock was never set reaches 11 days after its start.
 */
export const SECONDS_FROM = 946_684_800;
export const SECONDS_UNTIL = 4_100_000_000;
/** The year 2000, ms: the service refuses times of a device before it. */
export const EARLIEST_MS = 1000 * SECONDS_FROM;
/** The year 10000, ms: it is the year 1978 in microseconds. */
export const LATEST_MS = 253_402_300_800_000;
/** Maximum wait that the service may ask for before another attempt, ms. */
export const LONGEST_WAIT_MS = 30_000;
/** Rows of a page: the most that the service returns. */
export const PAGE_ROWS = 1000;
/**
 * Insights that are older than the newest stored one by more than this are final, ms: one is readable at most 5 s after
 * its `ts`, and the gateways' clocks agree within 1 s; the rest is a margin. No other clock is asked: the Date header
 * may be that of a proxy.
 */
export const SETTLED_MS = 10_000;
/** Time for which the newest insight of each series is remembered, ms of `ts`: a repair never reads back further. */
export const REMEMBERED_MS = 3_600_000;
/** Interval of a subscription's pings, ms. */
export const LIVE_PING_MS = 30_000;
/** Maximum wait of a subscription for the answer to its close, ms: as in Node's own WebSocket. The package `ws` waits for 30 s. */
export const LIVE_CLOSE_MS = 3000;
/** Data time of a frame of small pushes, and their maximum wait for others, ms. */
export const BATCH_MS = 100;
/**
 * Maximum difference of a stamp from the one that the batch's first stamp and the rate predict, ms; beyond it, a new
 * batch begins.
 */
export const STAMP_TOLERANCE_MS = 0.5;
/** Interval at which a device asks the service for a sign of life, ms. */
export const DEVICE_PING_MS = 15_000;
/** Maximum wait of a device for the answer to its close, in which the last data are sent, ms. */
export const DEVICE_CLOSE_MS = 30_000;
/** A device's clock was set if it moved by more than this against a stopwatch, ms; a drift takes weeks for it. */
export const CLOCK_SET_MS = 30_000;
/** Bytes before the samples of a binary frame. */
export const HEADER_BYTES = 16;
/** Version of binary frames. */
export const VERSION = 1;
/** Encodings of samples: 1 and 2 are int16 and int24. */
export const INT32 = 3;
export const FLOAT32 = 4;
/** Float32 represents whole numbers exactly up to here; above it, rounding to int32 is nearer to any value. */
export const FLOAT32_EXACT = 2 ** 24;
/** Bytes of a sample in the widest encoding. */
export const WIDEST_SAMPLE = 4;
/** Time for which acknowledged frames are kept for a gateway that lost its state (`replay_ms`), ms of data time. */
export const REPLAY_MS = 60_000;
