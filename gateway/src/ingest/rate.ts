/**
 * Time constant of forgetting, ms of data time: long compared with the jitter of stamps, short compared with the drift
 * of a crystal.
 */
const MEMORY_MS = 10_000;
/** Least share of the past that is kept from stamp to stamp, even if stamps are rare. */
const LEAST_MEMORY = 0.1;
/** Weight of the model's rate before stamps are more accurate, ms²: as if it were known to 3 % and stamps to 30 ms. */
const PRIOR_MS2 = (30 / 0.03) ** 2;
/** A rate is followed only within these factors of the model's. */
const MAX_FASTER = 10;
const MAX_SLOWER = 2;

/**
 * The line from numbers to times that best fits a channel's stamps: least squares with exponential forgetting
 * (recursive least squares; Ljung, System Identification, 2nd ed., 11.2), stored relative to its newest point so that
 * times of 10^12 ms lose no precision.
 */
export class Rate {
  /** Number and time (ms) of the line's newest point. */
  #seq: number;
  #time: number;
  #period: number;
  // Sums over the stamps, with forgetting: x is ms of nominal time before the newest point, y the stamp's distance from
  // the line.
  #w = 0;
  #sx = 0;
  #sy = 0;
  #sxx = PRIOR_MS2;
  #sxy = 0;

  /** @param nominal the model's spacing of the instants, ms */
  constructor(
    readonly nominal: number,
    seq: number,
    time: number,
  ) {
    this.#seq = seq;
    this.#time = time;
    this.#period = nominal;
  }

  /** The estimated spacing of the instants, ms. */
  get period(): number {
    return this.#period;
  }

  /** Time of a number, ms. */
  at(seq: number): number {
    return this.#time + (seq - this.#seq) * this.#period;
  }

  /** Moves the whole line in time, for a step of the stamps that is not a change of rate. */
  shift(ms: number): void {
    this.#time += ms;
  }

  /** Restarts from a point with a known spacing. */
  restart(seq: number, time: number, period: number): void {
    this.#seq = seq;
    this.#time = time;
    this.#period = this.#bounded(period);
    this.#w = 1;
    this.#sx = this.#sy = this.#sxy = 0;
    this.#sxx = PRIOR_MS2;
  }

  /** Fits the line to a stamp; numbers come in ascending order. */
  follow(seq: number, time: number): void {
    this.#moveTo(seq);
    this.#w += 1;
    this.#sy += time - this.#time;
    const determinant = this.#w * this.#sxx - this.#sx ** 2;
    const slope = determinant > 0 ? (this.#w * this.#sxy - this.#sx * this.#sy) / determinant : 0;
    this.#turn((this.#sy - slope * this.#sx) / this.#w, slope);
  }

  /** Makes `seq` the newest point, and reduces the weight of the past. */
  #moveTo(seq: number): void {
    const x = (seq - this.#seq) * this.nominal;
    this.#time = this.at(seq);
    this.#seq = seq;
    this.#sxx += x * (x * this.#w - 2 * this.#sx);
    this.#sxy -= x * this.#sy;
    this.#sx -= x * this.#w;
    const memory = Math.max(LEAST_MEMORY, Math.exp(-x / MEMORY_MS));
    this.#w *= memory;
    this.#sx *= memory;
    this.#sy *= memory;
    this.#sxx *= memory;
    this.#sxy *= memory;
  }

  /** Corrects the line and the sums, which are relative to it. */
  #turn(offset: number, slope: number): void {
    const period = this.#bounded(this.#period + slope * this.nominal);
    const turned = (period - this.#period) / this.nominal;
    this.#time += offset;
    this.#period = period;
    this.#sxy -= offset * this.#sx + turned * this.#sxx;
    this.#sy -= offset * this.#w + turned * this.#sx;
  }

  #bounded(period: number): number {
    return Math.min(this.nominal * MAX_SLOWER, Math.max(this.nominal / MAX_FASTER, period));
  }
}
