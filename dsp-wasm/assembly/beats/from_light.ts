import { BeatsState } from '../memory/beats_state';
import { SLOW_HZ } from '../memory/channel';
import { BEAT } from './tuning';

/**
 * Appends the pulses that are final: those with a later one, and the newest when no second wave can follow it. A beat is where the upstroke is steepest,
 * which noise moves less than the top or the foot (Peralta et al., Physiol. Meas. 40(2):025007, 2019).
 *
 * @param quality of light in which these pulses are
 */
export function collectPulses(state: BeatsState, quality: f64): void {
  const train = state.train;
  const ring = state.light;
  const searched = <f64>train.cursor / SLOW_HZ;
  for (let n = train.oldest; n < train.count; n++) {
    const pulse = train.pulseAt(n);
    if (n === train.count - 1 && searched - pulse.time < BEAT.SECOND_WAVE) break;
    const time = pulse.time - <f64>pulse.rise;
    if (time <= ring.told || (ring.count > 0 && time < ring.newest + BEAT.SHORTEST)) continue;
    ring.append(time, quality, ring.count > 0 && time - ring.newest < BEAT.LONGEST);
  }
}
