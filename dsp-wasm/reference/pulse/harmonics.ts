import { lineAt } from './artefact.js';
import { type Complex, complexLine, conjugate, scaled, size, times } from './complex.js';

/** Whether another rate explains the light as well, as assembly/pulse/harmonics.ts. */
export class Harmonics {
  #noted = 0;
  #linePower = 0;
  #halfPower = 0;
  #halfSizes = 0;
  #locked: Complex = [0, 0];
  #half: Complex = [0, 0];
  #sure = 0;
  #unsure = 0;

  /** @param light the channel with the steadiest beats, without its trend */
  note(light: readonly number[], bpm: number, unrest: number): void {
    const [half, line, double] = [complexLine(light, bpm / 2), complexLine(light, bpm), complexLine(light, 2 * bpm)];
    const keep = 1 - Math.min(1, Math.max(0.03, 0.8 * unrest ** 2));
    const inStep = (upper: Complex, lower: Complex) =>
      times(upper, scaled(conjugate(times(lower, lower)), 1 / Math.max(size(lower), 1e-20)));
    const add = ([a, b]: Complex, [c, d]: Complex): Complex => [keep * a + c, keep * b + d];
    this.#noted = keep * this.#noted + 1;
    this.#linePower = keep * this.#linePower + size(line) ** 2;
    this.#halfPower = keep * this.#halfPower + size(half) ** 2;
    this.#halfSizes = keep * this.#halfSizes + size(half) * size(line);
    this.#locked = add(this.#locked, inStep(double, line));
    this.#half = add(this.#half, inStep(line, half));
  }

  /** Amplitude of the second harmonic in step with the line, against the line's. */
  get secondInStep(): number {
    return size(this.#locked) / Math.max(this.#linePower, 1e-20);
  }

  /** @param felt whether an axis has a line at half the rate */
  hasHalf(bpm: number, felt: boolean): boolean {
    if (bpm < 60 || this.#noted < 16 || this.#halfPower < 0.0625 * this.#linePower || felt) return false;
    return size(this.#half) > 0.9 * this.#halfSizes;
  }

  /** @param power that of the line at a rate */
  hasOldLine(bpm: number, power: (bpm: number) => number): boolean {
    const old = this.#sure;
    if (old === 0 || Math.abs(bpm - old) <= 12) return false;
    if (Math.abs(old - 2 * bpm) <= 0.1 * Math.max(old, 2 * bpm)) return true;
    return power(old) * old > 0.2 * power(bpm) * bpm;
  }

  noteTrust(bpm: number, trusted: boolean): void {
    this.#unsure = trusted ? 0 : this.#unsure + 1;
    if (trusted) this.#sure = bpm;
    else if (this.#unsure > 240) this.#sure = 0;
  }
}

/** Whether the even harmonics stand out from the odd ones. */
export function hasEvenOnly(bpm: number, power: (bpm: number) => number): boolean {
  return bpm <= 90 && power(2 * bpm) > 0.4 * power(bpm) && power(4 * bpm) > 1.12 * power(3 * bpm);
}

/** Power of a line at a rate: of a spectrum as it is in motion, or of one that is emphasised by the frequency. */
export const powerOf =
  (spectrum: readonly number[], emphasised: boolean) =>
  (bpm: number): number =>
    lineAt(spectrum, bpm) / (emphasised ? bpm : 1);
