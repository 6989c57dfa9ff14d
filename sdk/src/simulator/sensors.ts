import type { NewModalityChannel } from '../generated/types.gen.js';
import type { Course } from './course.js';
import { ecgWave } from './ecg-wave.js';
import { episodeAt, type Faults } from './faults.js';
import { pulseWave } from './pulse-wave.js';
import type { Random } from './random.js';
import type { Rhythm } from './rhythm.js';

/** The reading of a sensor at one instant. */
export interface Body {
  readonly rhythm: Rhythm;
  readonly spo2: Course;
  readonly faults: Faults;
  /** Rate of the arm's swing in motion, Hz. */
  readonly cadenceHz: number;
}

/** A simulated sensor: its channel, and its reading at `t` seconds, in counts, for each sub-channel. */
export interface Sensor {
  readonly channel: NewModalityChannel;
  read(body: Body, t: number, random: Random): number[];
}

/** From the R peak to the pulse's foot at the wrist, seconds (pulse arrival time). */
const PULSE_ARRIVAL_S = 0.2;
/** Share of the pulse's height, and of the light, that the breath modulates (Charlton et al. 2018 give the orders). */
const BREATH_DEPTH = 0.12;
const BREATH_BASELINE = 0.004;
/** Share of the light that one g of motion moves. */
const MOTION_COUPLING = 0.03;
/** Noise of the photodiode, share of the light. */
const LIGHT_NOISE = 1e-4;
/** Light on the photodiode without skin before it, as a share. */
const AMBIENT = 0.02;

/** The classical curve of pulse oximetry, SpO2 = 110 - 25 R, solved for the ratio of ratios R. */
function ratioOfRatios(spo2: number): number {
  return (110 - spo2) / 25;
}

/**
 * A photodiode of 18 bits behind skin, after Beer and Lambert: the light falls exponentially with the blood volume, so that the
 * logarithms of red and infrared differ by exactly R.
 *
 * @param counts the steady light
 * @param perfusion optical depth of the pulse, as a function of R
 */
function photodiode(modality: string, counts: number, perfusion: (ratio: number) => number): Sensor {
  const channel = { modality, sample_rate_hz: 100, bit_depth: 18, num_channels: 1 };
  const full = 2 ** channel.bit_depth - 1;
  return {
    channel,
    read: (body, t, random) => {
      const depth = perfusion(ratioOfRatios(body.spo2.at(t)));
      const noise = random.normal() * (LIGHT_NOISE + depth * noiseStrength(body, t));
      if (episodeAt(body.faults, 'off', t)) return [toCounts(counts * (AMBIENT + noise), 0, full)];
      const light = counts * (skinLight(body, t, depth) + noise);
      return [toCounts(episodeAt(body.faults, 'saturation', t) ? (light / counts) * full : light, 0, full)];
    },
  };
}

/** Light through the skin, 1 being the steady part. */
function skinLight(body: Body, t: number, depth: number): number {
  const breath = body.rhythm.breath(t);
  const volume =
    pulseWave(body.rhythm.beatPhase(t - PULSE_ARRIVAL_S), body.rhythm.rate(t)) * (1 + BREATH_DEPTH * breath);
  return Math.exp(-depth * volume) * (1 + BREATH_BASELINE * breath) * (1 + MOTION_COUPLING * motion(body, t));
}

/** An ECG lead of 16 bits, 1 count a microvolt. */
const ecg: Sensor = {
  channel: { modality: 'ecg', sample_rate_hz: 250, bit_depth: 16, num_channels: 1 },
  read: (body, t, random) => {
    const full = 2 ** 15 - 1;
    const noise = random.normal() * (0.008 + 0.2 * noiseStrength(body, t));
    if (episodeAt(body.faults, 'off', t)) return [toCounts(1000 * noise, -full, full)];
    const mV = ecgWave(body.rhythm, t) + 0.1 * motion(body, t) + noise;
    return [toCounts(1000 * mV + (episodeAt(body.faults, 'saturation', t) ? full : 0), -full, full)];
  },
};

/** An accelerometer of 16 bits, x y z, 4096 counts a g. */
const accel: Sensor = {
  channel: { modality: 'accel', sample_rate_hz: 100, bit_depth: 16, num_channels: 3 },
  read: (body, t, random) => {
    const swing = motion(body, t);
    const lift = 0.004 * body.rhythm.breath(t);
    const g = [0.2 + 0.9 * swing, -0.1 + 0.4 * swing, 0.97 + lift - 0.3 * swing];
    return g.map((value) => toCounts(4096 * (value + 0.003 * random.normal()), -(2 ** 15), 2 ** 15 - 1));
  },
};

/** The sensors of the simulated device, in the order of its channels. */
export const SENSORS: readonly Sensor[] = [
  photodiode('ppg_green', 60_000, () => 0.03),
  photodiode('ppg_red', 100_000, (ratio) => 0.02 * ratio),
  photodiode('ppg_ir', 120_000, () => 0.02),
  ecg,
  accel,
];

/** The arm's acceleration along its swing, g: a step and its two harmonics; 0 at rest. */
function motion(body: Body, t: number): number {
  const episode = episodeAt(body.faults, 'motion', t);
  if (!episode) return 0;
  const phase = 2 * Math.PI * body.cadenceHz * t;
  return (
    (episode.strength ?? 0.8) * (Math.sin(phase) + 0.4 * Math.sin(2 * phase + 0.8) + 0.2 * Math.sin(3 * phase + 2))
  );
}

function noiseStrength(body: Body, t: number): number {
  const episode = episodeAt(body.faults, 'noise', t);
  return episode ? (episode.strength ?? 2) : 0;
}

function toCounts(value: number, low: number, high: number): number {
  return Math.max(low, Math.min(high, Math.round(value)));
}
