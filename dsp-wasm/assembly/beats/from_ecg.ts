import { BeatsState } from '../memory/beats_state';
import { EcgState, Lead } from '../memory/ecg_state';
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
 * Follows the beats of another lead, whose R peaks are earlier or later: by the mean distance of the beats that both leads have.
 */
function changeLead(state: BeatsState, ecg: EcgState): void {
  const lead = ecg.best;
  state.shift += distance(ecg.leadAt(state.lead), lead);
  state.lead = ecg.chosen;
  state.next = lead.oldestBeat;
}

/** By how much the R peaks of a lead are later than those of another one, s, in the mean over the beats that both have. */
function distance(from: Lead, to: Lead): f64 {
  let n = from.oldestBeat;
  let sum: f64 = 0;
  let count: f64 = 0;
  for (let k = to.oldestBeat; k < to.beatCount; k++) {
    const time = to.beatAt(k).time;
    while (n < from.beatCount && from.beatAt(n).time < time - BEAT.SHORTEST / 2) n++;
    if (n >= from.beatCount) break;
    const apart = time - from.beatAt(n).time;
    if (apart > BEAT.SHORTEST / 2) continue;
    sum += apart;
    count++;
  }
  return count > 0 ? sum / count : 0;
}
