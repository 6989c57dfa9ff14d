import { BeatRing } from '../memory/beats_state';
import { Row } from '../memory/row';
import { Beats } from './scratch';
import { BEAT, WINDOW } from './tuning';

/**
 * Collects the beats of the window before the last final one at a step's end (`now`, seconds); false if their intervals cover too little of it. The newest
 * beats are not all found yet, and one that is missing at the window's end would change a variability by as much as any.
 */
export function gather(ring: BeatRing, now: f64, to: Beats): bool {
  const end = now - WINDOW.LAG;
  let first = ring.count;
  while (first > ring.oldest && ring.timeOf(first - 1) > end - WINDOW.SECONDS) first--;
  let count = 0;
  let quality: f64 = 0;
  for (let n = first; n < ring.count; n++) {
    const time = <f32>(ring.timeOf(n) - (end - WINDOW.SECONDS));
    if (time > <f32>WINDOW.SECONDS) break;
    const isNext = count > 0 && ring.joinedTo(n) && time - to.times[count - 1] < <f32>BEAT.LONGEST;
    to.times[count] = time;
    to.begins[count] = <u8>!isNext;
    quality += ring.qualityOf(n);
    count++;
  }
  to.count = count;
  to.quality = count ? <f32>(quality / <f64>count) : 0;
  to.covered = durationOf(to) / <f32>WINDOW.SECONDS;
  return to.covered >= <f32>WINDOW.LEAST;
}

/** Sum of the intervals between the beats, s. */
function durationOf(beats: Beats): f32 {
  let sum: f32 = 0;
  for (let i = 0; i < beats.count; i++) if (!beats.begins[i]) sum += beats.times[i] - beats.times[i - 1];
  return sum;
}

/** Writes the interval before each beat, s; the mean of all where it is unknown. Returns that mean. */
export function intervalsOf(beats: Beats, to: Row<f32>): f32 {
  let known: f32 = 0;
  for (let i = 0; i < beats.count; i++) known += <f32>!beats.begins[i];
  const mean = durationOf(beats) / max<f32>(1, known);
  for (let i = 0; i < beats.count; i++) to[i] = beats.begins[i] ? mean : beats.times[i] - beats.times[i - 1];
  return mean;
}
