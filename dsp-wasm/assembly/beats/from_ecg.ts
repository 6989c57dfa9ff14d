import { BeatsState } from '../memory/beats_state';
import { EcgState, Lead } from '../memory/ecg_state';
import { insert, quantile } from './order';
import { ORDERED } from './scratch';
import { BEAT } from './tuning';

/** Appends the new R peaks of the chosen lead. */
export function collectPeaks(state: BeatsState, ecg: EcgState): void {
  const lead = ecg.best;
  if (state.lead !== ecg.chosen) changeLead(state, ecg);
  const ring = state.ecg;
  for (let n = max(state.next, lead.oldestBeat); n < lead.beatCount; n++) {
    const beat = lead.beatAt(n);
    const time = beat.time - state.shift;
    if (time <= ring.told || (ring.count > 0 && time < ring.newest + BEAT.SHORTEST)) continue;
    ring.append(time, <f64>beat.quality, beat.interval > 0);
  }
  state.next = lead.beatCount;
}

/**
 * Follows the beats of another lead. Its R peaks are earlier or later than those of the first lead: their times are those of the first lead, whichever is
 * followed, so that a change makes no interval longer or shorter.
 */
function changeLead(state: BeatsState, ecg: EcgState): void {
  const lead = ecg.best;
  state.shift = ecg.chosen ? distance(ecg.leadAt(0), lead) : 0;
  state.lead = ecg.chosen;
  state.next = lead.oldestBeat;
}

/** By how much the R peaks of a lead are later than those of another one, s: the median over the beats that both have. */
function distance(from: Lead, to: Lead): f64 {
  let n = from.oldestBeat;
  let held = 0;
  for (let k = to.oldestBeat; k < to.beatCount; k++) {
    const time = to.beatAt(k).time;
    while (n < from.beatCount && from.beatAt(n).time < time - BEAT.SHORTEST / 2) n++;
    if (n >= from.beatCount) break;
    const apart = time - from.beatAt(n).time;
    if (apart < BEAT.SHORTEST / 2) held = insert(ORDERED, held, <f32>apart);
  }
  return held ? <f64>quantile(ORDERED, held, 0.5) : 0;
}
