/**
 * Time constant of forgetting, ms of data time: long compared with the jitter of stamps, short compared with the drift
 * of a crystal.
 */
const MEMORY_MS = 10_000;
/** Minimum share of the past that is kept from stamp to stamp, even if stamps are rare. */
const LEAST_MEMORY = 0.1;
/** Weight of the model's rate before stamps are more accurate, ms²: as if it were known to 3 % and stamps to 30 ms. */
const PRIOR_MS2 = (30 / 0.03) ** 2;
/** A rate is followed only within these factors of the model's. */
export const MAX_FASTER = 10;
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

/** The fit uses the last point of each stretch of this length, ms, and so many points. */
const MAX_POINTS = 26;
const POINT_MS = 1000;
const MIN_POINTS = 6;
const MIN_SPAN_MS = 10_000;
/** A rate is known if three times its standard error is no more than this share of it. */
const KNOWN = 0.01;
/** Stamps may be rounded to this, ms (INGEST.md, section 4). */
const COARSEST_MS = 250;
/** Maximum difference from the model's rate, as a share, at which stamps that are multiples of a step are exact rather than rounded. */
const SAME = 0.001;

interface Point {
  readonly seq: number;
  readonly time: number;
}

/**
 * Measures the rate of a channel with its standard error: a straight line through the last point of each second, by
 * ordinary least squares. Unlike `Rate`, it knows nothing of the model's rate, and gives none before it is accurate.
 */
export class MeasuredRate {
  #points: Point[] = [];
  #next: Point | null = null;
  /** Greatest common divisor of the steps of the times, ms: they may be rounded to it. */
  #resolution = 0;
  /** Time of the first point that belongs to the next second, ms. */
  #due = 0;
  #period: number | null = null;

  /** @param nominal the model's spacing of the instants, ms */
  constructor(readonly nominal: number) {}

  /** The spacing of the instants, ms; null if it is not known to 1 %, by three standard errors, over 10 s or more. */
  get period(): number | null {
    return this.#period;
  }

  /** Forgets all points, for a step in time that is no rate. */
  restart(): void {
    this.#points = [];
    this.#next = null;
    this.#resolution = 0;
    this.#period = null;
  }

  /** Adds a number and its time, ms; numbers ascend. */
  add(seq: number, time: number): void {
    if (this.#next) this.#resolution = divisor(Math.abs(Math.round(time - this.#next.time)), this.#resolution);
    if (!this.#next) this.#due = time + POINT_MS;
    else if (time >= this.#due) {
      this.#due = time + POINT_MS;
      this.#points.push(this.#next);
      if (this.#points.length > MAX_POINTS) this.#points.shift();
      this.#period = this.#fitted();
    }
    this.#next = { seq, time };
  }

  /**
   * Slope of the line through the points, if it is known well enough. Rounded times may lie on a line without any error that is tilted by up to
   * one step of their resolution over the span. Those on the model's line are rather exact.
   */
  #fitted(): number | null {
    const period = fittedPeriod(this.#points);
    if (period === null || Math.abs(period / this.nominal - 1) <= SAME) return period;
    const span = (this.#points.at(-1)?.time ?? 0) - (this.#points[0]?.time ?? 0);
    return span < Math.min(this.#resolution, COARSEST_MS) / KNOWN ? null : period;
  }
}

/** Greatest common divisor of two whole numbers. */
function divisor(a: number, b: number): number {
  return b === 0 ? a : divisor(b, a % b);
}

/** Slope of the line through the points, if it is known well enough. */
function fittedPeriod(points: readonly Point[]): number | null {
  const [first, last, n] = [points[0], points.at(-1), points.length];
  if (!first || !last || n < MIN_POINTS || last.time - first.time < MIN_SPAN_MS) return null;
  let [meanSeq, meanTime] = [0, 0];
  for (const { seq, time } of points) {
    meanSeq += (seq - first.seq) / n;
    meanTime += (time - first.time) / n;
  }
  let [sxx, sxy] = [0, 0];
  for (const { seq, time } of points) {
    const x = seq - first.seq - meanSeq;
    sxx += x * x;
    sxy += x * (time - first.time - meanTime);
  }
  const slope = sxy / sxx;
  let [sum, products, before] = [0, 0, 0];
  for (const { seq, time } of points) {
    const residual = time - first.time - meanTime - slope * (seq - first.seq - meanSeq);
    sum += residual * residual;
    products += before * residual;
    before = residual;
  }
  // Neighbours that deviate alike are worth fewer points (for a first-order process, by this factor).
  const correlation = sum > 0 ? Math.max(0, products / sum) : 0;
  const error = Math.sqrt(((sum / (n - 2)) * (1 + correlation)) / (1 - correlation) / sxx);
  return slope > 0 && 3 * error <= KNOWN * slope ? slope : null;
}
