import type { InsightType, StoredInsight } from '@device-insights/gateway/offline';
import type { FrameSource } from '@device-insights/sdk';
import { Draws } from './motion-bench/random.js';
import { personOf } from './people.js';

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

/** A signal whose true values are known: a recording with a reference, or one that is made. */
export interface KnownSignal {
  /** What weighs the same as any other in the fit. */
  readonly set: string;
  /** Whose signals are in it; none where all is made. */
  readonly people: readonly string[];
  readonly source: FrameSource;
  readonly reference: Reference;
  /** Calibration curve of its SpO2; null for that of its device model. */
  readonly curve: readonly number[] | null;
}

/** The scored fields of a reading; `actual_end` in ms from the recording's t = 0. */
export type Answer = Pick<StoredInsight, 'type' | 'value' | 'confidence' | 'actual_end'>;

/** A window of a reference with the reading for it; null if there is none. */
export interface ScoredWindow<A extends Answer = Answer> {
  readonly set: string;
  /** Whose recording it is (people.ts). */
  readonly person: string;
  readonly type: InsightType;
  readonly reference: number;
  readonly answer: A | null;
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
export function scoreWindows<A extends Answer>(
  { id, seconds, types, windows }: Reference,
  answers: readonly A[],
): ScoredWindow<A>[] {
  const reach = seconds < SHORT ? 2 * REACH_S : REACH_S;
  const [set, person] = [setOf(id), personOf(id)];
  return types.flatMap((type) => {
    const own = answers.filter((answer) => answer.type === type).toSorted((a, b) => a.actual_end - b.actual_end);
    return windows.flatMap(({ end, values: { [type]: reference } }) =>
      reference === undefined ? [] : [{ set, person, type, reference, answer: nearest(own, end, reach) }],
    );
  });
}

function nearest<A extends Answer>(answers: readonly A[], end: number, reach: number): A | null {
  const apart = ({ actual_end }: Answer) => Math.abs(actual_end / 1000 - end);
  return answers.reduce<A | null>(
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
  return scoreGroups(windows, bySet);
}

/** One row for each recording and type; the windows are those of the recording. */
export function scoreRecordings(recordings: ReadonlyMap<string, readonly ScoredWindow[]>): Row[] {
  return [...recordings].flatMap(([id, windows]) => scoreGroups(windows, ({ type }) => `${id} ${type}`));
}

/** One row for each type, over all sets. */
export function scoreTypes(windows: readonly ScoredWindow[]): Row[] {
  return scoreGroups(windows, byType);
}

function scoreGroups(windows: readonly ScoredWindow[], nameOf: (window: ScoredWindow) => string): Row[] {
  return [...grouped(windows, nameOf)].map(([name, group]) => scoreGroup(name, group));
}

/** Items by the name of each. */
export function grouped<T>(items: readonly T[], nameOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const name = nameOf(item);
    const group = groups.get(name);
    if (group) group.push(item);
    else groups.set(name, [item]);
  }
  return groups;
}

/** Columns of scoreSets that the table of people left out has, and those that it also has in sample. */
const LEFT_OUT = [
  'MAE',
  'RMSE',
  'trusted %',
  'in tolerance % (trusted)',
  'wrong but trusted %',
  'calibration error',
] as const;
const IN_SAMPLE = ['MAE', 'trusted %', 'wrong but trusted %'] as const;
/** Resamplings of the people, of which an interval has 95 %. */
const BOOTSTRAPS = 400;

/**
 * One row for each set and type, then one for each type: the score by weights that were fitted without the person of each recording, with
 * 95 % intervals over the people (bootstrap), and in-sample figures, by weights that were fitted on all people.
 */
export function scoreLeftOut(leftOut: readonly ScoredWindow[], inSample: readonly ScoredWindow[]): Row[] {
  return [bySet, byType].flatMap((nameOf) => {
    const own = new Map(scoreGroups(inSample, nameOf).map((row) => [row.what, row]));
    return [...grouped(leftOut, nameOf)].map(([what, windows]) => {
      const people = [...grouped(windows, ({ person }) => person).values()];
      const figures = withIntervals(windows, people, (some) => {
        const all = figuresOf(some);
        return Object.fromEntries(LEFT_OUT.map((column) => [column, all[column]]));
      });
      const beside = IN_SAMPLE.map((column) => [`${column} in sample`, own.get(what)?.[column] ?? null]);
      return { what, people: people.length, windows: windows.length, ...figures, ...Object.fromEntries(beside) };
    });
  });
}

const bySet = ({ set, type }: ScoredWindow) => `${set} ${type}`;
const byType = ({ type }: ScoredWindow) => `all ${type}`;

/** Figures of some items; null where there are none. */
export type Figures = Readonly<Record<string, number | null>>;

/**
 * The figures of items, each with its 95 % interval over the people (bootstrap) if there are several.
 *
 * @param people the items of each
 * @param text how a figure is shown
 */
export function withIntervals<T>(
  items: readonly T[],
  people: readonly (readonly T[])[],
  figuresOf: (some: readonly T[]) => Figures,
  text: (value: number) => string | number = (value) => value,
): Row {
  const draws = new Draws(1);
  const resampled = Array.from({ length: people.length > 1 ? BOOTSTRAPS : 0 }, () =>
    figuresOf(people.flatMap(() => people[draws.below(people.length)] ?? [])),
  );
  return Object.fromEntries(
    Object.entries(figuresOf(items)).map(([column, value]) => {
      const sorted = resampled.flatMap(({ [column]: one }) => one ?? []).sort((a, b) => a - b);
      const [low, high] = [0.025, 0.975].map((share) => sorted[Math.floor(share * sorted.length)]);
      const own = value === null ? null : text(value);
      return [column, low === undefined || high === undefined ? own : `${own ?? ''} (${text(low)} to ${text(high)})`];
    }),
  );
}

interface Answered {
  readonly error: number;
  readonly confidence: number;
  readonly tolerance: number;
}

function scoreGroup(what: string, windows: readonly ScoredWindow[]): Row {
  return { what, windows: windows.length, ...figuresOf(windows) };
}

function figuresOf(windows: readonly ScoredWindow[]) {
  const answered = windows.flatMap(({ type, reference, answer }): Answered[] => {
    if (!answer) return [];
    const error = Math.abs(answer.value - reference);
    return [{ error, confidence: answer.confidence, tolerance: toleranceOf(type, reference) }];
  });
  const trusted = answered.filter(({ confidence }) => confidence >= TRUSTED);
  const wrong = trusted.filter(({ error, tolerance }) => error > 2 * tolerance);
  const percentOf = (some: readonly unknown[]) => (100 * some.length) / windows.length;
  return {
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
