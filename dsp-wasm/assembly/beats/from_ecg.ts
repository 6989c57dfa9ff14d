import { correlation } from '../math/correlation';
import { insert, quantile } from '../math/order';
import { vertex } from '../math/parabola';
import { BeatsState } from '../memory/beats_state';
import { ECG_HZ } from '../memory/channel';
import { EcgState, Lead, TEMPLATES, WAVE } from '../memory/ecg_state';
import { Row, rowAt } from '../memory/row';
import { ORDERED } from './scratch';
import { BEAT } from './tuning';

/** Appends the new R peaks of the chosen lead. */
export function collectPeaks(state: BeatsState, ecg: EcgState): void {
  const lead = ecg.best;
  if (state.lead !== ecg.chosen) changeLead(state, ecg);
  const ring = state.ecg;
  for (let n = max(state.next, lead.oldestBeat); n < lead.beatCount; n++) {
    const beat = lead.beatAt(n);
    const time = beat.time - state.shift + later(state, lead, beat.kind);
    if (time <= ring.told || (ring.count > 0 && time < ring.newest + BEAT.SHORTEST)) continue;
    ring.append(time, <f64>beat.quality, beat.interval > 0);
  }
  state.next = lead.beatCount;
}

/**
 * By how much later than its R peak a beat of that kind is, s, so that beats of all kinds are timed at the same place of their waves as those of the
 * main kind: of two kinds, one may have its R peak on another wave of the QRS complex. 0 if the waves are too different to compare.
 */
function later(state: BeatsState, lead: Lead, kind: i32): f64 {
  let main = lead.templates[state.kind];
  if (!main.learnt || lead.beatCount - main.newest > BEAT.FORGOTTEN) {
    for (let k = 0; k < TEMPLATES; k++)
      if (lead.templates[k].learnt > lead.templates[state.kind].learnt) state.kind = k;
    main = lead.templates[state.kind];
  }
  if (kind === state.kind) return 0;
  const own = lead.templates[kind];
  let place = 0;
  let best: f32 = 0;
  for (let lag = -BEAT.REACH; lag <= BEAT.REACH; lag++) {
    const alike = likeness(main.wave, own.wave, lag);
    if (!(alike > best)) continue;
    best = alike;
    place = lag;
  }
  if (best < BEAT.LIKE) return 0;
  let top: f32 = 0;
  if (abs(place) < BEAT.REACH)
    top = vertex<f32>(likeness(main.wave, own.wave, place - 1), best, likeness(main.wave, own.wave, place + 1));
  return <f64>(main.peak + <f32>place + top - own.peak) / ECG_HZ;
}

/** Correlation of the middle of a wave with another one `lag` grid samples later. */
function likeness(one: Row<f32>, other: Row<f32>, lag: i32): f32 {
  const middle = rowAt<f32>(one.at(BEAT.REACH));
  return correlation(middle, rowAt<f32>(other.at(BEAT.REACH + lag)), WAVE - 2 * BEAT.REACH);
}

/**
 * Follows the beats of another lead. Its R peaks are earlier or later than those of the first lead: their times are those of the first lead, whichever is
 * followed, so that a change makes no interval longer or shorter.
 */
function changeLead(state: BeatsState, ecg: EcgState): void {
  const lead = ecg.best;
  state.shift = ecg.chosen ? distance(ecg.leads[0], lead) : 0;
  state.lead = ecg.chosen;
  state.kind = 0;
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
