import type { Row, TimeColumn } from './csv.js';
import { RecordingError } from './manifest.js';

/** Rows with different stamps at the beginning of a file whose steps show the unit of t. */
const CHECKED_STAMPS = 10;
/** Maximum data time of rows with the same stamp, ms: a minute, for stamps without seconds. */
const MAX_PACKET_MS = 60_000;
/** Rows this many times slower than the sample rate say are no matter of the rate: t has another unit. */
const MAX_SLOWER = 25;
/**
 * Rows are in the wrong order when the steps of t back outweigh those ahead by this much. A step ahead counts twice, so that
 * jitter, which steps back at most as often as ahead, does not add up.
 */
const MAX_FALLS = 20;

/**
 * Groups consecutive rows with the same stamp.
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
): AsyncGenerator<Row[]> {
  const name = `the column ${time.name ?? 't'}`;
  let first: Row[][] | null = [];
  const order = new RowOrder();
  for await (const packet of grouped(rows, MAX_PACKET_MS / periodMs, file, name)) {
    order.take(packet, file, name);
    if (first === null) yield packet;
    else if (first.push(packet) > CHECKED_STAMPS) {
      checkUnit(first, periodMs, file, name);
      yield* first;
      first = null;
    }
  }
  if (first === null) return;
  checkUnit(first, periodMs, file, name);
  yield* first;
}

async function* grouped(rows: AsyncIterable<Row>, most: number, file: string, name: string): AsyncGenerator<Row[]> {
  let packet: Row[] = [];
  for await (const row of rows) {
    const [start] = packet;
    if (start && start.t !== row.t) {
      yield packet;
      packet = [];
    } else if (start && packet.length > most)
      throw new RecordingError(
        `${file}:${start.line}: ${name} stays at ${row.t} for more than a minute of rows; each row needs its time in seconds`,
      );
    packet.push(row);
  }
  if (packet.length > 0) yield packet;
}

/** Watches whether the rows are in the order of measurement. */
class RowOrder {
  #falls = 0;
  #since = 0;
  #t = Number.NEGATIVE_INFINITY;

  /** @throws RecordingError if they are not */
  take([row]: readonly Row[], file: string, name: string): void {
    if (!row) return;
    if (this.#falls === 0) this.#since = row.line;
    this.#falls = row.t < this.#t ? this.#falls + 1 : Math.max(0, this.#falls - 2);
    this.#t = row.t;
    if (this.#falls > MAX_FALLS)
      throw new RecordingError(
        `${file}:${this.#since}: ${name} goes back from row to row: sort the rows by it, oldest first`,
      );
  }
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
  if (steps.length < 2 || least < MAX_SLOWER || most > 4 * least) return;
  const isMs = least > 500 && most < 2000;
  throw new RecordingError(
    isMs
      ? `${file}: ${name} is in milliseconds; it must be in seconds`
      : `${file}: ${name} advances ${least.toFixed(0)} times as fast as sample_rate_hz says; it must be in seconds`,
  );
}
