import { ramp } from '../math/ramp.js';
import { BINS, WINDOW, windowed } from './powers.js';

type Complex = readonly [number, number];

const times = ([a, b]: Complex, [c, d]: Complex): Complex => [a * c - b * d, a * d + b * c];
const conjugate = ([a, b]: Complex): Complex => [a, -b];
const size = ([a, b]: Complex) => Math.hypot(a, b);
const scaled = ([a, b]: Complex, by: number): Complex => [a * by, b * by];

/** What tells a lamp's line from a pulse's, as assembly/pulse/tone.ts. */
export class Tone {
  #phases: Complex[] = [];
  #locked: Complex = [0, 0];
  #power = 0;

  /**
   * @param light the channel with the steadiest beats, without its trend
   * @param beside share of the pulse's power that is not the line's; 1 in motion
   */
  lampLike(light: readonly number[], bpm: number, beside: number): number {
    const line = lineAt(light, bpm);
    const double = times(lineAt(light, 2 * bpm), scaled(conjugate(times(line, line)), 1 / Math.max(size(line), 1e-20)));
    this.#phases.push(scaled(line, 1 / Math.max(size(line), 1e-20)));
    const share = Math.max(0.03, 1 / this.#phases.length);
    const [re, im] = this.#locked;
    this.#locked = [re + share * (double[0] - re), im + share * (double[1] - im)];
    this.#power += share * (size(line) ** 2 - this.#power);
    if (bpm > 150) return 0;
    const plain = 1 - ramp(size(this.#locked) / Math.max(this.#power, 1e-20), 0.1, 0.15);
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

/** A line of a signal, its phase that at the window's middle. */
function lineAt(light: readonly number[], bpm: number): Complex {
  const k = Math.max(7, Math.min(BINS - 1, Math.floor(bpm / 3.75 + 0.5)));
  const points = windowed(light);
  const middle = (points.length - 1) / 2;
  const angle = (i: number) => (-Math.PI * k * (i - middle)) / points.length;
  const sum = points.reduce<Complex>(
    ([a, b], v, i) => [a + v * Math.cos(angle(i)), b + v * Math.sin(angle(i))],
    [0, 0],
  );
  return scaled(sum, Math.cos((Math.PI * k) / (2 * WINDOW)) ** -3);
}
