import { WINDOW_LAG_S } from '@device-insights/dsp-wasm';
import { Draws } from '../motion-bench/random.js';
import { readBeats } from '../reference.js';
import { beatsOf, RHYTHMS } from '../rhythm-bench/rhythms.js';
import { grouped, type Row } from '../score.js';
import { type Minute, rmssdOf, toleranceOf, within } from './minutes.js';

/** How far the marks of recordings can tell a variability: marks of beats whose times are known exactly, at whole samples, and as far off as they are. */

const SEED = 5101;
/** Rate of the recordings with marked beats, Hz. */
const HZ = 360;
/** Length of a made series, s. */
const SECONDS = 600;
/** Minimum number of marks that tell how far those of a recording are off. */
const ENOUGH = 100;
/** Maximum time from a mark to its beat, s. */
const REACH = 0.05;

/**
 * One row for each rhythm that is made: in how many of the minutes RMSSD of the marks is within the tolerance of that of the beats, for marks that are
 * rounded to samples, and for those that are off as the marks of a recording are from the core's beats, in their order.
 */
export function scoreMarks(folder: string, all: readonly Minute[]): Row[] {
  const whole = all.filter(({ estimator, end }) => estimator === 'hrv_ecg' && (end + WINDOW_LAG_S) % 60 === 0);
  const offsets = [...grouped(whole, ({ recording }) => recording)]
    .map(([recording, own]) =>
      offsetsOf(
        readBeats(folder, recording) ?? [],
        own.flatMap(({ beats }) => beats),
      ),
    )
    .filter(({ length }) => length >= ENOUGH);
  return RHYTHMS.map((what, kind) => {
    const errors = offsets.flatMap((own, k) => {
      const times = beatsOf(what, new Draws(SEED, kind, k), SECONDS).map(({ time }) => time);
      const rounded = times.map((time) => Math.round(time * HZ) / HZ);
      const off = times.map((time, i) => time + (own[i % own.length] ?? 0));
      return ENDS.map((end) => {
        const truth = rmssdOf(within(times, end));
        return [rounded, off].map((marks) => Math.abs(rmssdOf(within(marks, end)) - truth));
      });
    });
    const share = (n: number) => (100 * errors.filter((both) => (both[n] ?? 0) <= TOLERANCE).length) / errors.length;
    return {
      what,
      minutes: errors.length,
      'in tolerance %, at whole samples': share(0).toFixed(1),
      'in tolerance %, off as the marks': share(1).toFixed(1),
    };
  });
}

const TOLERANCE = toleranceOf({ estimator: 'hrv_ecg' });
const ENDS = Array.from({ length: SECONDS / 60 }, (_, i) => 60 * (i + 1));

/** By how much each mark is later than its beat, less their median, s. */
function offsetsOf(marks: readonly number[], beats: readonly number[]): number[] {
  const offsets = marks.flatMap((mark) => {
    const nearest = beats.reduce(
      (best, t) => (Math.abs(mark - t) < Math.abs(mark - best) ? t : best),
      Number.POSITIVE_INFINITY,
    );
    return Math.abs(mark - nearest) < REACH ? [mark - nearest] : [];
  });
  const middle = offsets.toSorted((a, b) => a - b)[offsets.length >> 1] ?? 0;
  return offsets.map((offset) => offset - middle);
}
