import type { Row, TimeColumn } from './csv.js';
import { RecordingError } from './manifest.js';

/** Rows whose times are known from each stamp, or only together, as read from a FIFO or received at once. */
export interface Packet {
  readonly rows: readonly Row[];
  /** Whether the stamps are those of the packet: the rows follow its first stamp at the sample rate. */
  readonly isPacket: boolean;
}

/** Minimum number of rows of a packet: a few stamps may come close to each other by jitter. */
const LEAST_ROWS = 5;
/** Rows belong together where t advances by less than this share of the nominal spacing: just over a quarter. */
const CLOSE = 0.26;
/**
 * Rows with different stamps are a packet if the next one follows after their number of periods, within these factors.
 * Otherwise the true rate is higher than the sample rate.
 */
const EARLIEST_NEXT = 0.5;
const LATEST_NEXT = 2;
/** Maximum data time of rows that belong together, ms: a minute, for stamps without seconds. */
const MAX_PACKET_MS = 60_000;
/** Packets at the beginning of a file whose steps show the unit of t. */
const CHECKED_PACKETS = 10;
/** Rows this many times slower or faster than the sample rate says are not a matter of the rate: t has another unit. */
const MAX_FACTOR = 25;
/**
 * Rows are in the wrong order when the steps of t back outweigh those ahead by this much. A step ahead counts twice, so that
 * jitter, which steps back at most as often as ahead, does not add up.
 */
const MAX_FALLS = 20;

/**
 * Groups consecutive rows whose stamps are the same or close together.
 *
 * @param periodMs nominal spacing of the rows, ms
 * @param file name of the file, for messages
 * @throws RecordingError if the rows are in reverse order, if t does not advance, or if it is not in seconds
 */
export async function* packets(
  rows: AsyncIterable<Row>,
  periodMs: number,
  file: string,
  time: TimeColumn,
): AsyncGenerator<Packet> {
  const name = `the column ${time.name ?? 't'}`;
  let first: (readonly Row[])[] | null = [];
  let last: readonly Row[] | null = null;
  let isPacket = false;
  const order = new RowOrder();
  for await (const group of grouped(rows, periodMs, file, name)) {
    order.take(group, file, name);
    if (first && first.push(group) > CHECKED_PACKETS) {
      checkUnit(first, periodMs, file, name);
      first = null;
    }
    if (last) {
      isPacket = arrivedTogether(last, group, periodMs, isPacket);
      yield { rows: last, isPacket };
    }
    last = group;
  }
  order.end(file, name);
  if (first) checkUnit(first, periodMs, file, name);
  if (last) yield { rows: last, isPacket: arrivedTogether(last, [], periodMs, isPacket) };
}

async function* grouped(rows: AsyncIterable<Row>, periodMs: number, file: string, name: string): AsyncGenerator<Row[]> {
  const close = (CLOSE * periodMs) / 1000;
  let group: Row[] = [];
  for await (const row of rows) {
    const [first, last] = [group[0], group.at(-1)];
    const isFull = group.length > MAX_PACKET_MS / periodMs;
    if (first && isFull && MAX_FACTOR * 1000 * (row.t - first.t) < MAX_PACKET_MS)
      throw new RecordingError(
        `${file}:${first.line}: ${name} advances by ${Number((row.t - first.t).toPrecision(3))} s in more than a minute of rows; each row needs its time in seconds`,
      );
    if (last && (isFull || row.t < last.t || row.t - last.t >= close)) {
      yield group;
      group = [];
    }
    group.push(row);
  }
  if (group.length > 0) yield group;
}

/** Whether rows are a packet, by the group that follows; if that is not ahead of them, as the group before was. */
function arrivedTogether(rows: readonly Row[], [next]: readonly Row[], periodMs: number, wasPacket: boolean): boolean {
  const start = rows[0]?.t ?? 0;
  if (rows.length < LEAST_ROWS || rows.at(-1)?.t === start) return rows.length >= LEAST_ROWS;
  if (!next || next.t < start) return wasPacket;
  const lead = (1000 * (next.t - start)) / (periodMs * rows.length);
  return lead >= EARLIEST_NEXT && lead <= LATEST_NEXT;
}

/** Watches whether the rows are in the order of measurement. */
class RowOrder {
  #falls = 0;
  #since = 0;
  #t = Number.NEGATIVE_INFINITY;
  /** Steps back less steps ahead, in the whole file. */
  #balance = 0;

  /** @throws RecordingError if t keeps going back */
  take([row]: readonly Row[], file: string, name: string): void {
    if (!row) return;
    const isBack = row.t < this.#t;
    if (this.#falls === 0) this.#since = row.line;
    this.#falls = isBack ? this.#falls + 1 : Math.max(0, this.#falls - 2);
    if (this.#t > Number.NEGATIVE_INFINITY) this.#balance += isBack ? 1 : -1;
    this.#t = row.t;
    if (this.#falls > MAX_FALLS) throw isReversed(`${file}:${this.#since}`, name);
  }

  /** @throws RecordingError if t went back more often than ahead */
  end(file: string, name: string): void {
    if (this.#balance > 0) throw isReversed(file, name);
  }
}

function isReversed(place: string, name: string): RecordingError {
  return new RecordingError(`${place}: ${name} goes back from row to row: sort the rows by it, oldest first`);
}

/**
 * Checks the first steps of t.
 *
 * @throws RecordingError if all of them are too long by much the same factor, as of stamps in ms
 */
function checkUnit(packets: readonly (readonly Row[])[], periodMs: number, file: string, name: string): void {
  const steps = packets.slice(1).map(([row], i) => {
    const before = packets[i] ?? [];
    return (1000 * ((row?.t ?? 0) - (before[0]?.t ?? 0))) / (periodMs * before.length);
  });
  const [least, most] = [Math.min(...steps), Math.max(...steps)];
  if (steps.length < 2 || least < MAX_FACTOR || most > 4 * least) return;
  const isMs = least > 500 && most < 2000;
  throw new RecordingError(
    isMs
      ? `${file}: ${name} is in milliseconds; it must be in seconds`
      : `${file}: ${name} advances ${least.toFixed(0)} times as fast as sample_rate_hz says; it must be in seconds`,
  );
}
