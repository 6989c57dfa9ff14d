import type { DeviceModelDraft, Frame, FrameSource } from '../device/frame.js';
import { checkOptions, type Rules } from '../options.js';
import { Course, type CourseSpec } from './course.js';
import { FAULTS, type Faults, withFaults } from './faults.js';
import { Random } from './random.js';
import { Rhythm, type Vitals } from './rhythm.js';
import { type Body, SENSORS, type Sensor } from './sensors.js';

/** The course of the simulation. Vital signs: default 72 bpm, 15 brpm, 97 %. */
export interface SimulatorOptions extends Partial<Vitals> {
  /** The same seed gives the same frames. Default 1. */
  readonly seed?: number;
  /** Names the device. Default `simulator-<seed>`. */
  readonly id?: string;
  /** Length in seconds. Default: without end. */
  readonly seconds?: number;
  /** Steps per second while in motion. Default 2.6 (a run). */
  readonly cadenceHz?: number;
  /** The faults. Default: none. */
  readonly faults?: Faults;
}

const OPTIONS: Rules<SimulatorOptions> = {
  hr: true,
  rr: true,
  spo2: true,
  seed: true,
  id: true,
  seconds: true,
  cadenceHz: true,
  faults: true,
};

/** A simulated device, and the true values of its wearer. */
export interface Simulator extends FrameSource {
  /** The device model of the simulated wearable. */
  readonly deviceModel: DeviceModelDraft;
  /** All frames, in order of `at`. Each call starts again and gives the same frames. */
  frames(): Iterable<Frame>;
  /** True vital signs at `t` seconds: hr and rr per minute, spo2 in per cent. */
  truth(t: number): { hr: number; rr: number; spo2: number };
  /** True times of the R peaks from `from` to before `until`, seconds. */
  beats(from: number, until: number): number[];
}

/** Data time of a frame, ms. */
const FRAME_MS = 200;
const DEVICE_MODEL: DeviceModelDraft = {
  name: 'Simulated wearable',
  description: 'Green, red and infrared PPG, one ECG lead and an accelerometer, simulated',
  firmware_version: '1.0.0',
  modality_channels: SENSORS.map((sensor) => sensor.channel),
  spo2_calibration: { a: 110, b: -25 },
};

/** Range of each vital sign in which the pulse model is valid. */
const LIMITS = { hr: [25, 240], rr: [3, 60], spo2: [60, 100] } as const;

/**
 * A wearable on a simulated wearer: PPG (green, red, infrared; 100 Hz), ECG (250 Hz) and accelerometer (100 Hz) with
 * known heart rate, SpO2 and respiratory rate (defaults 72, 97, 15), and the requested faults. Deterministic.
 *
 * @throws RangeError for vital signs outside 25-240 bpm, 3-60 brpm and 60-100 %; TypeError for an option or a fault that
 * does not exist
 */
export function simulate(options: SimulatorOptions = {}): Simulator {
  checkOptions('simulate', options, OPTIONS);
  const { seed = 1, faults = {}, cadenceHz = 2.6, seconds = Infinity } = options;
  checkOptions('faults', faults, FAULTS);
  const courses = {
    hr: course('hr', options.hr ?? 72),
    rr: course('rr', options.rr ?? 15),
    spo2: course('spo2', options.spo2 ?? 97),
  };
  const rhythm = new Rhythm({ hr: options.hr ?? 72, rr: options.rr ?? 15 }, seed);
  const body: Body = { rhythm, spo2: courses.spo2, faults, cadenceHz };
  return {
    id: options.id ?? `simulator-${seed}`,
    deviceModel: DEVICE_MODEL,
    frames: () => withFaults(sensed(body, seed, seconds), faults, seed),
    truth: (t) => ({ hr: courses.hr.at(t), rr: courses.rr.at(t), spo2: courses.spo2.at(t) }),
    beats: (from, until) => rhythm.beats(from, until),
  };
}

function course(name: keyof typeof LIMITS, spec: CourseSpec): Course {
  const made = new Course(spec);
  const [low, high] = LIMITS[name];
  const [least, most] = made.range;
  if (least < low || most > high)
    throw new RangeError(`${name} must stay within ${low} to ${high}; this course goes from ${least} to ${most}`);
  return made;
}

/** Frames as the sensors make them: each channel one frame every 200 ms. */
function* sensed(body: Body, seed: number, seconds: number): Generator<Frame> {
  const randoms = SENSORS.map((_, index) => Random.of(seed, 2 + index));
  for (let step = 0; ((step + 1) * FRAME_MS) / 1000 <= seconds; step++)
    for (const [index, sensor] of SENSORS.entries()) {
      const random = randoms[index];
      if (random) yield sense(body, sensor, index, step, random);
    }
}

function sense(body: Body, sensor: Sensor, channel: number, step: number, random: Random): Frame {
  const rate = sensor.channel.sample_rate_hz;
  const instants = (rate * FRAME_MS) / 1000;
  const samples = new Float64Array(instants * sensor.channel.num_channels);
  const seq = step * instants;
  for (let i = 0; i < instants; i++)
    samples.set(sensor.read(body, (seq + i) / rate, random), i * sensor.channel.num_channels);
  return { channel, seq, ts: step * FRAME_MS, samples, at: (step + 1) * FRAME_MS };
}
