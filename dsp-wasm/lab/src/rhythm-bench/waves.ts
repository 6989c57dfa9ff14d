import type { Draws } from '../motion-bench/random.js';
import { HZ, type Signal, wander } from '../motion-bench/signal.js';
import type { Beat } from './rhythms.js';

/** Signals of heartbeats: a photoplethysmogram and an electrocardiogram. */

/** Interval of the beats of a series' beginning, s. */
const USUAL = 0.8;

/**
 * The optical signal of beats: a pulse for each, a log-normal wave and a Gaussian one after it (Sološenko et al., "Modeling of
 * the photoplethysmogram during atrial fibrillation", Computers in Biology and Medicine 2017), added up, so that an early pulse rides on the one before. Its height follows the heart's
 * filling: it rises steeply with the interval before the beat up to 0.5 s and hardly beyond ("Relationship between beat to
 * beat interval and left ventricular function in patients with atrial fibrillation", International Journal of Cardiac
 * Imaging), and falls a little with the interval before that (Hardman, Noble and Seed, Circulation 1992). After a short
 * interval it may be lost in noise.
 * The typical pulse has a height of one.
 */
export function pulseWave(draws: Draws, beats: readonly Beat[], samples: number): Signal {
  const shape: PulseShape = {
    delay: draws.uniform(0.15, 0.25),
    rise: draws.uniform(0.16, 0.22),
    width: draws.uniform(0.4, 0.55),
    dicrotic: draws.uniform(0.1, 0.4),
    dicroticAfter: draws.uniform(0.36, 0.44),
  };
  const closed = draws.uniform(0.22, 0.34); // after this interval the ventricle is still empty, s
  const weakness = draws.uniform(0.6, 1); // of a beat that does not come through the atria
  const breath = draws.uniform(0.18, 0.33);
  const wave = new Float64Array(samples);
  for (const [i, { time, origin }] of beats.entries()) {
    const before = intervalBefore(beats, i);
    const filling = 1 - Math.exp(-Math.max(0, before - closed) / 0.16);
    const potentiation = (USUAL / intervalBefore(beats, i - 1)) ** 0.3;
    const breathing = 1 + 0.08 * Math.sin(2 * Math.PI * breath * time);
    const own = origin === 'ventricular' ? weakness : 1;
    addPulse(wave, time, filling * potentiation * breathing * own, shape);
  }
  const drift = wander(draws, samples, 4, 0.3);
  return wave.map((v, i) => v + (drift[i] ?? 0));
}

interface PulseShape {
  /** From the R peak to the foot, and from there to the top, s. */
  readonly delay: number;
  readonly rise: number;
  /** Standard deviation of the logarithm of time. */
  readonly width: number;
  /** Height of the second wave, and its time from the foot, s. */
  readonly dicrotic: number;
  readonly dicroticAfter: number;
}

/** Time after which nothing of a pulse is left, s. */
const PULSE_SECONDS = 2;

function addPulse(wave: Signal, time: number, height: number, shape: PulseShape): void {
  const foot = time + shape.delay;
  const from = Math.max(0, Math.ceil(foot * HZ));
  for (let i = from; i < wave.length && i / HZ < foot + PULSE_SECONDS; i++) {
    const t = i / HZ - foot + 1e-9;
    const first = Math.exp(-0.5 * (Math.log(t / shape.rise) / shape.width) ** 2);
    const second = shape.dicrotic * Math.exp(-0.5 * ((t - shape.dicroticAfter) / 0.08) ** 2);
    wave[i] = (wave[i] ?? 0) + height * (first + second);
  }
}

function intervalBefore(beats: readonly Beat[], i: number): number {
  const [beat, before] = [beats[i], beats[i - 1]];
  return beat && before ? beat.time - before.time : USUAL;
}

/** Height (of the R wave), width (standard deviation, s) and place (from the R peak, s) of a Gaussian wave. */
type Wave = readonly [height: number, width: number, place: number];

/**
 * The ECG of beats as a sum of Gaussian waves (McSharry et al., IEEE TBME 2003), with an R wave of one: ventricular beats
 * are broad, without a P wave and with an opposite T wave; in fibrillation there are f waves instead of P waves.
 */
export function electricWave(draws: Draws, beats: readonly Beat[], samples: number): Signal {
  const t = draws.uniform(0.1, 0.35);
  const normal: Wave[] = [
    [-draws.uniform(0.05, 0.2), 0.011, -0.028],
    [1, draws.uniform(0.009, 0.013), 0],
    [-draws.uniform(0.1, 0.35), 0.012, 0.03],
  ];
  const p: Wave = [draws.uniform(0.08, 0.2), 0.022, -0.16];
  const broad = (draws.uniform(0, 1) < 0.3 ? -1 : 1) * draws.uniform(0.9, 1.7);
  const ventricular: Wave[] = [
    [broad, draws.uniform(0.026, 0.042), 0],
    [-0.3 * broad, 0.035, 0.09],
    [-0.35 * broad, 0.07, 0.3],
  ];
  const wave = fibrillatory(draws, beats, samples);
  for (const [i, { time, origin }] of beats.entries()) {
    // The T wave comes sooner after a short interval (Bazett 1920).
    const repolarisation: Wave = [t, 0.05, 0.3 * Math.sqrt(Math.min(1.2, intervalBefore(beats, i)))];
    const waves = origin === 'ventricular' ? ventricular : [...normal, repolarisation];
    for (const one of origin === 'sinus' || origin === 'atrial' ? [p, ...waves] : waves) addWave(wave, time, one);
  }
  const noise = draws.uniform(0.01, 0.06);
  const drift = wander(draws, samples, 3, draws.uniform(0.1, 0.4));
  return wave.map((v, i) => v + (drift[i] ?? 0) + noise * draws.normal());
}

function addWave(signal: Signal, time: number, [height, width, place]: Wave): void {
  const middle = time + place;
  const to = Math.min(signal.length - 1, Math.floor((middle + 5 * width) * HZ));
  for (let i = Math.max(0, Math.ceil((middle - 5 * width) * HZ)); i <= to; i++) {
    signal[i] = (signal[i] ?? 0) + height * Math.exp(-0.5 * ((i / HZ - middle) / width) ** 2);
  }
}

/** The f waves: a saw of three harmonics whose rate and height wander (Stridh and Sörnmo, IEEE TBME 2001). */
function fibrillatory(draws: Draws, beats: readonly Beat[], samples: number): Signal {
  const height = draws.uniform(0.03, 0.12);
  const rate = draws.uniform(5, 8);
  const [faster, higher] = [wander(draws, samples, 5, 0.3), wander(draws, samples, 2, 0.2)];
  let phase = 0;
  let beat = 0;
  return Float64Array.from({ length: samples }, (_, i) => {
    phase += (2 * Math.PI * (rate + (faster[i] ?? 0))) / HZ;
    while ((beats[beat]?.time ?? Number.POSITIVE_INFINITY) < i / HZ) beat++;
    if (beats[beat]?.origin !== 'fibrillation') return 0;
    const saw = Math.sin(phase) + Math.sin(2 * phase) / 2 + Math.sin(3 * phase) / 3;
    return height * (1 + (higher[i] ?? 0)) * saw;
  });
}
