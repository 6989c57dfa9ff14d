import { ramp } from '../math/ramp.js';
import { type Complex, complexLine, conjugate, scaled, size, times } from './complex.js';

/** What tells a lamp's line from a pulse's, as assembly/pulse/tone.ts. */
export class Tone {
  #phases: Complex[] = [];

  /**
   * @param light the channel with the steadiest beats, without its trend
   * @param beside share of the pulse's power that is not the line's; 1 in motion
   * @param secondInStep amplitude of the second harmonic in step with the line, against the line's
   */
  lampLike(light: readonly number[], bpm: number, beside: number, secondInStep: number): number {
    const line = complexLine(light, bpm);
    this.#phases.push(scaled(line, 1 / Math.max(size(line), 1e-20)));
    if (bpm > 150) return 0;
    const plain = 1 - ramp(secondInStep, 0.1, 0.15);
    return Math.min(plain, ramp(beside, 0.02, 0.04), ramp(this.#steadiness(), 0.95, 0.97));
  }

  #steadiness(): number {
    const last = this.#phases.slice(-20);
    if (last.length < 20) return 0;
    const advances = last.slice(8).map((phase, i) => times(phase, conjugate(last[i] ?? [0, 0])));
    const [x, y] = advances.reduce<Complex>(([a, b], [c, d]) => [a + c, b + d], [0, 0]);
    return Math.hypot(x, y) / 12;
  }
}
