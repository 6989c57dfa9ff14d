import { BeatRing } from '../memory/beats_state';
import { Intervals } from './scratch';
import { BEAT, WINDOW } from './tuning';

/** Collects the intervals between the beats of the window that ends at `end` (seconds); false if they cover too little of it. */
export function gather(ring: BeatRing, end: f64, to: Intervals): bool {
  to.count = 0;
  to.quality = 0;
  to.duration = 0;
  let first = ring.count;
  while (first > ring.oldest && ring.timeOf(first - 1) > end - WINDOW.SECONDS) first--;
  let begins = true;
  let beats: f32 = 0;
  for (let n = first; n < ring.count; n++) {
    const time = ring.timeOf(n);
    if (time > end) break;
    beats++;
    to.quality += <f32>ring.qualityOf(n);
    if (n === first) continue;
    const interval = <f32>(time - ring.timeOf(n - 1));
    if (!ring.joinedTo(n) || interval > BEAT.LONGEST) {
      begins = true;
      continue;
    }
    to.seconds[to.count] = interval;
    to.begins[to.count] = <u8>begins;
    to.duration += interval;
    to.count++;
    begins = false;
  }
  if (beats > 0) to.quality /= beats;
  return to.duration >= WINDOW.LEAST * WINDOW.SECONDS;
}
