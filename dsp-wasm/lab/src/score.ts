import type { InsightType, StoredInsight } from '@device-insights/gateway/offline';

/** The reference of one window: its end in s from the recording's t = 0, and the value of each type that it has. */
export interface ReferenceWindow {
  readonly end: number;
  readonly values: Readonly<Partial<Record<InsightType, number>>>;
}

/** A recording's reference (sdk/RECORDINGS.md). */
export interface Reference {
  readonly id: string;
  readonly seconds: number;
  readonly types: readonly InsightType[];
  readonly windows: readonly ReferenceWindow[];
}

/** The scored fields of a reading; `actual_end` in ms from the recording's t = 0. */
export type Answer = Pick<StoredInsight, 'type' | 'value' | 'confidence' | 'actual_end'>;

/** A window of a reference with the reading for it; null if there is none. */
export interface ScoredWindow {
  readonly set: string;
  readonly type: InsightType;
  readonly reference: number;
  readonly answer: Answer | null;
}

/** A row of a table: texts and numbers by column; null is a mean without values. */
export type Row = Readonly<Record<string, string | number | null>>;

/**
 * An error of at most this is in tolerance; an error of more than twice this is wrong. SpO2 below 90 % has the A_rms that
 * ISO 80601-2-61 allows from 70 to 100 %.
 */
export function toleranceOf(type: InsightType, reference: number): number {
  if (type === 'spo2') return reference < 90 ? 4 : 3;
  return type === 'hr' ? 5 : 3;
}
/** Readings of at least this confidence are trusted. */
export const TRUSTED = 0.5;
/** A reading belongs to a window if their ends are this near, s; in recordings shorter than 10 s, twice this. */
const REACH_S = 1;
const SHORT = 10;
/** Number of confidence bins of the calibration error. */
const BINS = 10;

/** Pairs each window of a reference with the reading of its type whose end is nearest; of two, the later one. */
export function scoreWindows({ id, seconds, types, windows }: Reference, answers: readonly Answer[]): ScoredWindow[] {
  const reach = seconds < SHORT ? 2 * REACH_S : REACH_S;
  const set = setOf(id);
  return types.flatMap((type) => {
    const own = answers.filter((answer) => answer.type === type).toSorted((a, b) => a.actual_end - b.actual_end);
    return windows.flatMap(({ end, values: { [type]: reference } }) =>
      reference === undefined ? [] : [{ set, type, reference, answer: nearest(own, end, reach) }],
    );
  });
}

function nearest(answers: readonly Answer[], end: number, reach: number): Answer | null {
  const apart = ({ actual_end }: Answer) => Math.abs(actual_end / 1000 - end);
  return answers.reduce<Answer | null>(
    (best, answer) => (apart(answer) <= reach && (!best || apart(answer) <= apart(best)) ? answer : best),
    null,
  );
}

/**
 * The set of a recording, by its name: `troika-01-ecg` belongs to `troika-ecg`. Each recording with added noise is its
 * own set.
 */
export function setOf(id: string): string {
  if (id.startsWith('nstdb')) return id;
  return `${id.split('-', 1)[0]}${/-(ecg|resp)$/.exec(id)?.[0] ?? ''}`;
}

/** One row for each set and type. */
export function scoreSets(windows: readonly ScoredWindow[]): Row[] {
  return scoreGroups(windows, ({ set, type }) => `${set} ${type}`);
}

/** One row for each recording and type; the windows are those of the recording. */
export function scoreRecordings(recordings: ReadonlyMap<string, readonly ScoredWindow[]>): Row[] {
  return [...recordings].flatMap(([id, windows]) => scoreGroups(windows, ({ type }) => `${id} ${type}`));
}

/** One row for each type, over all sets. */
export function scoreTypes(windows: readonly ScoredWindow[]): Row[] {
  return scoreGroups(windows, ({ type }) => `all ${type}`);
}

function scoreGroups(windows: readonly ScoredWindow[], nameOf: (window: ScoredWindow) => string): Row[] {
  const groups = new Map<string, ScoredWindow[]>();
  for (const window of windows) {
    const name = nameOf(window);
    const group = groups.get(name);
    if (group) group.push(window);
    else groups.set(name, [window]);
  }
  return [...groups].map(([name, group]) => scoreGroup(name, group));
}

interface Answered {
  readonly error: number;
  readonly confidence: number;
  readonly tolerance: number;
}

function scoreGroup(what: string, windows: readonly ScoredWindow[]): Row {
  const answered = windows.flatMap(({ type, reference, answer }): Answered[] =>
    answer
      ? [
          {
            error: Math.abs(answer.value - reference),
            confidence: answer.confidence,
            tolerance: toleranceOf(type, reference),
          },
        ]
      : [],
  );
  const trusted = answered.filter(({ confidence }) => confidence >= TRUSTED);
  const wrong = trusted.filter(({ error, tolerance }) => error > 2 * tolerance);
  const percentOf = (some: readonly unknown[]) => (100 * some.length) / windows.length;
  return {
    what,
    windows: windows.length,
    'answered %': rounded(percentOf(answered), 1),
    MAE: rounded(mean(answered.map(({ error }) => error)), 2),
    RMSE: rounded(Math.sqrt(mean(answered.map(({ error }) => error ** 2))), 2),
    'trusted %': rounded(percentOf(trusted), 1),
    'MAE trusted': rounded(mean(trusted.map(({ error }) => error)), 2),
    'in tolerance % (trusted)': rounded(100 * mean(trusted.map(inTolerance)), 1),
    'wrong but trusted %': rounded(percentOf(wrong), 2),
    'calibration error': rounded(calibrationError(answered), 3),
  };
}

const inTolerance = ({ error, tolerance }: Answered) => (error <= tolerance ? 1 : 0);

/**
 * Mean difference between the confidence and the share in tolerance, over bins of confidence weighted by their number
 * of readings.
 */
function calibrationError(answered: readonly Answered[]): number {
  if (answered.length === 0) return Number.NaN;
  let sum = 0;
  for (let bin = 0; bin < BINS; bin++) {
    const own = answered.filter(({ confidence }) => Math.min(BINS - 1, Math.floor(confidence * BINS)) === bin);
    if (own.length === 0) continue;
    const distance = Math.abs(mean(own.map(({ confidence }) => confidence)) - mean(own.map(inTolerance)));
    sum += (own.length / answered.length) * distance;
  }
  return sum;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function rounded(value: number, digits: number): number | null {
  return Number.isNaN(value) ? null : Number(value.toFixed(digits));
}
