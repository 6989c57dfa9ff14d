import { createHash } from 'node:crypto';
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Core, createCore, type Estimator } from '@device-insights/dsp-wasm';
import { type Constant, compileTunable, readConstants, TunableCore } from '@device-insights/dsp-wasm/tuning';
import type { InsightType } from '@device-insights/gateway/offline';
import { type Minute, minutes, toleranceOf as minuteTolerance, modelOf } from '../beats/minutes.js';
import { table, writeParts } from '../page.js';
import { grouped, TRUSTED, toleranceOf } from '../score.js';
import { faultTapes } from './faults.js';
import { FOLDER, LAB } from './left-out.js';
import { noiseBench } from './noise.js';
import { benches, irregular, RHYTHM_SET, recorded, type Signal } from './signals.js';
import { type Played, play, record, type Tape } from './tape.js';

/** The search over the constants of the signal core, one at a time, by the loss of its readings (`npm run fit -- --constants`). */

/** What the brackets of a constant say that this search has fitted. */
export const SEARCHED = 'npm run fit -- --constants';
/** The table of the losses, written by the search. */
export const TABLE = join(LAB, 'constants.csv');

/**
 * Loss of a window: 0 if its reading is right and trusted, 1 if there is none that is trusted, and more if one is wrong (off by more than
 * twice the tolerance) but trusted. For rr and SpO2 that is as the models of confidence have it: their weight of wrong readings times the odds from which they
 * trust; for hr, which rules doubt as well, as the aims have it: 1 % wrong is as bad as 20 % that are hidden. Estimates count a little, by their
 * error up to four times the tolerance. An answer of rhythm is wrong on the other side of a half.
 */
const WRONG: Readonly<Record<InsightType, number>> = { hr: 20, rr: 3, spo2: 12, hrv: 3, rhythm: 3 };
const OF_ERROR = 0.05;
const MOST_ERROR = 4;

/** Values that are tried, as factors of the committed one; of a share above a half, of what is left to one. */
const FACTORS = [0.5, 2, 0.8, 1.25] as const;
/** Added to the seeds of the benches that the weights are fitted on. */
const SHIFT = 2000;
const NOISE_SEED = 6091;
const NOISE_COUNT = 20;
const FAULT_SEED = 6101;
/** Seeds of the rhythm bench. All of its recordings are used, because wrong readings of irregular rhythms are rare. */
const RHYTHM_SEEDS = [5001, 5002];
/** Each third of the other made recordings is used, and of the recordings of minutes: the bench makes light and ECG by turns. */
const EVERY = 3;
const MINUTES_SEEDS = [3001];
/** Differences of so many standard errors over the people are clear: one in twenty is so great by chance, on one side. */
const CLEAR = 1.64;
/** The same in a half of them, as with four values and two halves one is more often so by chance. */
const CLEAR_IN_HALF = 2.5;
/** No smaller difference matters: a reading in a thousand. */
const LEAST = 0.001;
/** A set weighs as much as it has people, or hundreds of windows, but at most this, as in python/logistic.py. */
const MOST_PEOPLE = 8;
const HUNDRED = 100;

/** Of each folder that tapes are played for. The readings of beats are of minutes, of which the tapes have too few. */
const ESTIMATORS: Readonly<Record<string, readonly Estimator[]>> = {
  pulse: ['hr_ppg'],
  ecg: ['hr_ecg', 'rr_ecg'],
  breath: ['hr_ppg', 'rr_ppg', 'rr_ecg', 'rr_resp'],
  spo2: ['spo2'],
  grid: ['hr_ppg', 'hr_ecg', 'rr_ppg', 'rr_ecg', 'rr_resp', 'spo2'],
};
const BEATS = 'beats';
const isScored = (folder: string, type: InsightType) => folder !== 'breath' || type === 'rr';

/** The loss of one person's readings of a type in a set. */
interface Unit {
  readonly set: string;
  readonly type: InsightType;
  readonly person: string;
  readonly loss: number;
  readonly windows: number;
  readonly trusted: number;
  readonly wrong: number;
}

/** The losses of one value; the differences are to the committed value, each with its standard error over the people. */
export interface Row {
  readonly constant: string;
  readonly value: number;
  readonly loss: number;
  /** On all, on each half of the people, on recordings alone, and on made signals alone. */
  readonly differences: Readonly<Record<Part, readonly [difference: number, error: number]>>;
}
const PARTS = ['all', 'a', 'b', 'recordings', 'made'] as const;
export type Part = (typeof PARTS)[number];

/** Tries the values of the constants whose names, steps or folders are given (all without any); writes TABLE and SENSITIVITY.md. */
export async function fitConstants(recordings: string, names: readonly string[]): Promise<void> {
  const constants = readConstants();
  const wanted = constants.filter((one) => isSearched(one) && isNamed(one, names));
  if (wanted.length === 0) throw new Error(`no constant that is chosen or fitted by search: ${names.join(' ')}`);
  const tapes = wanted.some(({ folder }) => folder !== BEATS) ? await readTapes(recordings) : [];
  const bytes = await compileTunable();
  const tunable = await TunableCore.load(bytes, constants);
  const folders = [...new Set(wanted.map(({ folder }) => folder))];
  for (const folder of folders) {
    const cache = new Cache(folder, [bytes, JSON.stringify([constants, tapes.length, WRONG, OF_ERROR])]);
    const unitsBy = (open: () => Promise<Core>, played: readonly Tape[]) =>
      folder === BEATS ? unitsOfMinutes(recordings, open) : unitsOf(folder, played, open);
    const base = await cache.units('', () => unitsBy(() => tunable.open(), tapes));
    const own = wanted.filter((one) => one.folder === folder);
    // Half and twice of all first: they show what does nothing
    for (const { constant, count } of [2, FACTORS.length].flatMap((count) =>
      own.map((constant) => ({ constant, count })),
    )) {
      const name = `${folder} ${constant.name}`;
      const rows = [rowOf(name, constant.value ?? 0, base, base)];
      const seen = new Set<string>();
      for (const [i, value] of valuesOf(constant).slice(0, count).entries()) {
        // Whom neither half nor twice changes, no value between them does
        const played = i < 2 ? tapes : tapes.filter(({ set, person }) => seen.has(`${set} ${person}`));
        const open = () => tunable.open({ constant, value });
        const units = await cache.units(`${name} ${value}`, () => unitsBy(open, played));
        const all = units && joined(base ?? [], units);
        for (const one of changedIn(base ?? [], all)) seen.add(one);
        rows.push(rowOf(name, value, base, all));
      }
      writeRows([...readRows().filter((row) => row.constant !== name), ...rows]);
      console.log(`${name}: ${verdictOf(rows)}\n${rows.map(lineOf).join('\n')}`);
    }
  }
  writeParts('SENSITIVITY.md', effects(constants, readRows()));
}

export function isSearched({ folder, origin, source, value }: Constant): boolean {
  return (
    (folder === BEATS || folder in ESTIMATORS) && value !== null && (origin === 'chosen' || source.startsWith(SEARCHED))
  );
}

function isNamed({ folder, name }: Constant, names: readonly string[]): boolean {
  return names.length === 0 || names.some((one) => one === folder || one === name || name.startsWith(`${one}.`));
}

/** The values to try, without the committed one. */
export function valuesOf({ value, type, unit }: Constant): number[] {
  const x = value ?? 0;
  const isShare = ['share', 'probability', 'correlation'].includes(unit) && x >= 0.5 && x < 1;
  const tried = FACTORS.map((factor) => (isShare ? 1 - (1 - x) / factor : factor * x));
  const kept = isShare ? tried.map((v) => Math.max(v, x / 2)) : tried;
  const whole = kept.map((v) => (v < x ? Math.min(x - 1, Math.round(v)) : Math.max(x + 1, Math.round(v))));
  const values = type === 'i32' ? whole : kept.map((v) => Number(v.toPrecision(6)));
  return [...new Set(values)].filter((v) => v !== x);
}

/** Records all signals that are searched on. */
async function readTapes(recordings: string): Promise<Tape[]> {
  return [...(await tapesOf(recorded(recordings))), ...(await tapesOf(made(recordings))), ...faultTapes(FAULT_SEED)];
}

async function* made(recordings: string): AsyncGenerator<Signal> {
  let count = 0;
  for await (const signal of benches(recordings, true, SHIFT)) {
    // Here each rhythm is a set of its own, of more seeds
    if (signal.set !== RHYTHM_SET && count++ % EVERY === 0) yield signal;
  }
  for (const seed of RHYTHM_SEEDS) yield* irregular(recordings, seed, true);
  yield* noiseBench(NOISE_SEED, NOISE_COUNT);
}

async function tapesOf(some: AsyncIterable<Signal>): Promise<Tape[]> {
  const core = await createCore({ maxSessions: 1 });
  const tapes: Tape[] = [];
  for await (const signal of some) {
    const tape = await record(signal, core);
    if (tape.windows.size > 0) tapes.push(tape);
  }
  return tapes;
}

/** @returns null if the core fails */
function unitsOf(folder: string, tapes: readonly Tape[], open: () => Promise<Core>): Promise<Unit[] | null> {
  const estimators = new Set(ESTIMATORS[folder]);
  return summed(async (add) => {
    const core = await open();
    for (const tape of tapes)
      for (const played of play(tape, core, estimators))
        if (isScored(folder, played.type)) add({ ...tape, type: played.type }, outcomeOf(played));
  });
}

/** The same of variability and rhythm; each recording gets a core of its own. @returns null if the core fails */
function unitsOfMinutes(recordings: string, open: () => Promise<Core>): Promise<Unit[] | null> {
  return summed(async (add) => {
    for await (const minute of minutes(recordings, MINUTES_SEEDS, open, (number) => number % EVERY === 0)) {
      const outcome = outcomeOfMinute(minute);
      const type = modelOf(minute) === 'rhythm' ? 'rhythm' : 'hrv';
      if (outcome) add({ ...minute, set: `${minute.set} ${minute.estimator}`, type }, outcome);
    }
  });
}

type Add = (whose: Pick<Unit, 'set' | 'type' | 'person'>, outcome: Outcome) => void;

/** @returns null if the core fails */
async function summed(score: (add: Add) => Promise<void>): Promise<Unit[] | null> {
  const units = new Map<string, Unit>();
  try {
    await score(({ set, type, person }, outcome) => {
      const none: Unit = { set, type, person, loss: 0, windows: 0, trusted: 0, wrong: 0 };
      units.set(keyOf(none), sum(units.get(keyOf(none)) ?? none, outcome));
    });
  } catch (error) {
    if (error instanceof Error && error.name === 'RuntimeError') return null; // WebAssembly's, of a trap
    throw error;
  }
  return [...units.values()].map((unit) => ({ ...unit, loss: Number((unit.loss / unit.windows).toPrecision(6)) }));
}

const keyOf = ({ set, type, person }: Unit) => `${set} ${type} ${person}`;

/** The units of the base, in their order, where there are no others. */
function joined(base: readonly Unit[], units: readonly Unit[]): Unit[] {
  const own = new Map(units.map((unit) => [keyOf(unit), unit]));
  return base.map((unit) => own.get(keyOf(unit)) ?? unit);
}

/** The signals, by set and person, of which a unit is another one; all if there is no result. */
function changedIn(base: readonly Unit[], units: readonly Unit[] | null): string[] {
  const changed = base.filter((unit, i) => JSON.stringify(unit) !== JSON.stringify(units?.[i]));
  return changed.map(({ set, person }) => `${set} ${person}`);
}

/** What became of a window. */
interface Outcome {
  /** Error of the reading, in tolerances; null if there is none. */
  readonly off: number | null;
  readonly isTrusted: boolean;
  /** Whether a trusted reading is missed where there is none. */
  readonly isMissed: boolean;
  /** Whether the error of an estimate counts. */
  readonly hasTruth: boolean;
}

function outcomeOf({ type, reference, reading, reason, given }: Played): Outcome {
  return {
    off: reading && Math.abs(reading.value - reference) / toleranceOf(type, reference),
    isTrusted: reading !== null && reading.confidence >= TRUSTED,
    isMissed: reason ? given !== reason : reference > 0,
    hasTruth: reference > 0,
  };
}

/** Null where the truth is not known. */
function outcomeOfMinute(minute: Minute): Outcome | null {
  const { rmssd, fibrillation, answer } = minute;
  const isRhythm = modelOf(minute) === 'rhythm';
  const truth = !isRhythm ? rmssd : fibrillation === null ? null : 100 * Number(fibrillation);
  if (truth === null) return null;
  const { estimate } = answer;
  return {
    off: estimate && Math.abs(estimate.value - truth) / (isRhythm ? 25 : minuteTolerance(minute)),
    isTrusted: estimate !== null && estimate.confidence >= TRUSTED,
    isMissed: true,
    hasTruth: true,
  };
}

function sum(unit: Unit, { off, isTrusted, isMissed, hasTruth }: Outcome): Unit {
  const isWrong = isTrusted && (off ?? 0) > 2;
  const ofError = hasTruth ? OF_ERROR * Math.min(MOST_ERROR, off ?? MOST_ERROR) : 0;
  const loss = isWrong ? WRONG[unit.type] : Number(!isTrusted && isMissed);
  return {
    ...unit,
    loss: unit.loss + loss + ofError,
    windows: unit.windows + 1,
    trusted: unit.trusted + Number(isTrusted),
    wrong: unit.wrong + Number(isWrong),
  };
}

const isMade = (set: string) => /\bbench\b/.test(set);
const groupOf = ({ set, type }: Unit) => `${set} ${type}`;

function rowOf(constant: string, value: number, base: readonly Unit[] | null, units: readonly Unit[] | null): Row {
  if (!base) throw new Error('the core fails with the committed constants');
  const own = units ?? base.map((unit) => ({ ...unit, loss: Math.max(...Object.values(WRONG)) }));
  const groups = new Map<string, { people: number; windows: number }>();
  for (const unit of base) {
    const { people, windows } = groups.get(groupOf(unit)) ?? { people: 0, windows: 0 };
    groups.set(groupOf(unit), { people: people + 1, windows: windows + unit.windows });
  }
  const weights = base.map((unit) => {
    const { people, windows } = groups.get(groupOf(unit)) ?? { people: 1, windows: 1 };
    return (Math.min(MOST_PEOPLE, people, windows / HUNDRED) * unit.windows) / windows;
  });
  const total = weights.reduce((a, b) => a + b, 0);
  const loss = own.reduce((all, unit, i) => all + ((weights[i] ?? 0) / total) * unit.loss, 0);
  const part = (isIn: (unit: Unit) => boolean): readonly [number, number] => {
    const some = base.flatMap((unit, i) =>
      isIn(unit) ? [[weights[i] ?? 0, (own[i]?.loss ?? 0) - unit.loss] as const] : [],
    );
    const all = some.reduce((a, [weight]) => a + weight, 0);
    const mean = some.reduce((a, [weight, change]) => a + (weight / all) * change, 0);
    const squares = some.reduce((a, [weight, change]) => a + ((weight / all) * (change - mean)) ** 2, 0);
    return some.length > 1 ? [mean, Math.sqrt(squares)] : [0, 0];
  };
  return {
    ...{ constant, value, loss },
    differences: {
      all: part(() => true),
      a: part(({ person }) => halfOf(person) === 0),
      b: part(({ person }) => halfOf(person) === 1),
      recordings: part(({ set }) => !isMade(set)),
      made: part(({ set }) => isMade(set)),
    },
  };
}

/** Half of the people that somebody is in. */
function halfOf(person: string): number {
  return (createHash('sha256').update(person).digest()[0] ?? 0) % 2;
}

/**
 * What the rows of a constant, the committed value first, say of it: `fitted` if no other value is clearly better, on all or on a half of the people,
 * and one is clearly worse, on all, on recordings or on made signals; `idle` if none is either; `worse` if another one is clearly better.
 */
export function verdictOf(rows: readonly Row[]): 'fitted' | 'idle' | 'worse' {
  const isAny = (sign: number, parts: readonly Part[], clear: number) =>
    rows
      .slice(1)
      .some(({ differences }) =>
        parts.some((part) => sign * differences[part][0] > Math.max(clear * differences[part][1], LEAST)),
      );
  if (isAny(-1, ['all'], CLEAR) || isAny(-1, ['a', 'b'], CLEAR_IN_HALF)) return 'worse';
  return isAny(1, ['all', 'recordings', 'made'], CLEAR) ? 'fitted' : 'idle';
}

const HEAD = ['constant', 'value', 'loss', ...PARTS.flatMap((part) => [part, `${part} error`])];
const cellsOf = ({ constant, value, loss, differences }: Row) => [
  constant,
  value,
  ...[loss, ...PARTS.flatMap((part) => differences[part])].map((x) => Number(x.toPrecision(4))),
];
const lineOf = (row: Row) => cellsOf(row).join();

/** The rows of TABLE. */
export function readRows(): Row[] {
  if (!existsSync(TABLE)) return [];
  const lines = readFileSync(TABLE, 'utf8').trim().split('\n').slice(1);
  return lines.map((line) => {
    const [constant = '', ...cells] = line.split(',');
    const [value = 0, loss = 0, ...rest] = cells.map(Number);
    const pairs = PARTS.map((part, i) => [part, [rest[2 * i] ?? 0, rest[2 * i + 1] ?? 0]]);
    return { constant, value, loss, differences: Object.fromEntries(pairs) };
  });
}

/** Writes TABLE in the order of the constants, without those that are no longer searched. */
function writeRows(rows: readonly Row[]): void {
  const names = readConstants()
    .filter(isSearched)
    .map(({ folder, name }) => `${folder} ${name}`);
  const ordered = names.flatMap((name) => rows.filter(({ constant }) => constant === name));
  writeFileSync(TABLE, `${[HEAD.join(), ...ordered.map(lineOf)].join('\n')}\n`);
}

/** What the rows of TABLE say of the chosen constants, as tables of Markdown by folder. */
export function effects(constants: readonly Constant[], rows: readonly Row[]): Map<string, string> {
  const chosen = constants.flatMap(({ folder, name, value, what, origin }) => {
    const [own, ...others] = rows.filter(({ constant }) => constant === `${folder} ${name}`);
    if (origin !== 'chosen' || own?.value !== value) return [];
    const changes = others.map((row) => `${row.value}: ${changeOf(row)}`).join(', ');
    return [{ folder, row: { constant: name, value, what: what.split('. ', 1)[0] ?? '', changes } }];
  });
  const folders = grouped(constants, ({ folder }) => folder).keys();
  const tableOf = (folder: string) => table(chosen.flatMap((one) => (one.folder === folder ? [one.row] : [])));
  const hasAny = (folder: string) => chosen.some((one) => one.folder === folder);
  return new Map([...folders].map((folder) => [folder, hasAny(folder) ? tableOf(folder) : 'None is chosen.']));
}

/** The change of the loss, bold if it is clearly greater, and in italics if it is clearly less. */
function changeOf({ differences: { all } }: Row): string {
  const [change, error] = all;
  if (change === 0 && error === 0) return '=';
  const rounded = Number(change.toFixed(4));
  const text = rounded > 0 ? `+${rounded}` : `${rounded || 0}`;
  if (Math.abs(change) <= Math.max(CLEAR * error, LEAST)) return text;
  return change > 0 ? `**${text}**` : `*${text}*`;
}

/** Losses that were computed before, by the same core on the same signals; a search that was stopped goes on where it was. */
class Cache {
  readonly #file: string;
  readonly #known = new Map<string, Unit[] | null>();

  constructor(folder: string, ...keys: readonly (string | Uint8Array)[][]) {
    const hash = createHash('sha256').update(folder);
    for (const key of keys.flat()) hash.update(key);
    mkdirSync(FOLDER, { recursive: true });
    this.#file = join(FOLDER, `constants-${folder}-${hash.digest('hex').slice(0, 16)}.jsonl`);
    const lines = existsSync(this.#file) ? readFileSync(this.#file, 'utf8').trim().split('\n') : [];
    for (const line of lines) {
      const { name, units } = JSON.parse(line);
      this.#known.set(name, units);
    }
  }

  async units(name: string, compute: () => Promise<Unit[] | null>): Promise<Unit[] | null> {
    const known = this.#known.get(name);
    if (known !== undefined) return known;
    const units = await compute();
    this.#known.set(name, units);
    appendFileSync(this.#file, `${JSON.stringify({ name, units })}\n`);
    return units;
  }
}
