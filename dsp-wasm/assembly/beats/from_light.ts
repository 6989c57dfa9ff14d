import { copyGrid } from '../grid/window';
import { BeatsState } from '../memory/beats_state';
import { Channel, LONG_RING, SLOW_HZ } from '../memory/channel';
import { SCRATCH } from '../memory/map';
import { BEAT } from './tuning';

/**
 * Appends the pulses that are final: those with a later one, and the newest when no second wave can follow it. A beat is where the upstroke is steepest,
 * which noise moves less than the top or the foot (Peralta et al., Physiol. Meas. 40(2):025007, 2019). Its
 * quality is 1 if its height is credible beside the usual one or that of the pulse before, and less the more it differs from both.
 */
export function collectPulses(state: BeatsState): void {
  const train = state.train;
  const ring = state.light;
  const searched = <f64>train.cursor / SLOW_HZ;
  for (let n = train.oldest; n < train.count; n++) {
    const pulse = train.pulseAt(n);
    if (n === train.count - 1 && searched - pulse.time < BEAT.SECOND_WAVE) break;
    const time = pulse.time - <f64>pulse.rise;
    if (time <= ring.told || (ring.count > 0 && time < ring.newest + BEAT.SHORTEST)) continue;
    const height = pulse.height;
    const usual = state.height > 0 ? state.height : height;
    const quality = min<f32>(1, max(likeness(height, usual), likeness(height, state.last)) / BEAT.CREDIBLE);
    state.height = usual + BEAT.FOLLOW * (min(height, 2 * usual) - usual);
    state.last = height;
    state.rise += BEAT.FOLLOW * (pulse.rise - state.rise);
    const isNext = ring.count > 0 && time - ring.newest < BEAT.LONGEST;
    if (ring.count > 0 && !isNext && isSeen(train.channel, ring.newest, time)) state.paused = time;
    ring.append(time, <f64>quality, isNext);
  }
}

/** Whether most of the light between two times (seconds) is there. */
function isSeen(channel: Channel | null, from: f64, to: f64): bool {
  if (!channel) return false;
  const first = <i32>(from * SLOW_HZ);
  const count = min(LONG_RING, <i32>(to * SLOW_HZ) - first);
  return 2 * copyGrid(channel, 0, first, count, channel.complete, SCRATCH) > count;
}

/** How alike two heights are, from 0 to 1. */
function likeness(one: f32, other: f32): f32 {
  return max(one, other) > 0 ? max<f32>(0, min(one, other) / max(one, other)) : 0;
}
