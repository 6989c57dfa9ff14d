import type { FrameSource } from '@device-insights/sdk';
import { type Simulator, type SimulatorOptions, simulate } from '@device-insights/sdk/simulator';
import { expect } from 'chai';
import type { InsightType } from '../insight.js';
import { analyseOffline } from './offline.js';

/** Errors from which a reading is wrong: twice the tolerance; of a rhythm that is regular, a probability of half. */
const WRONG: Readonly<Record<InsightType, number>> = { hr: 10, rr: 6, spo2: 6, hrv: 20, rhythm: 50 };
const WINDOW: Readonly<Record<InsightType, number>> = { hr: 8, rr: 32, spo2: 8, hrv: 60, rhythm: 60 };
/** What a device may have of the simulated wearable's sensors. */
const WEARABLES: Readonly<Record<string, readonly string[]>> = {
  wristband: ['ppg_green', 'accel'],
  'finger clip': ['ppg_red', 'ppg_ir', 'accel'],
  'chest strap': ['ecg'],
  'full set of sensors': ['ppg_green', 'ppg_red', 'ppg_ir', 'ecg', 'accel'],
};
const SECONDS = 110;
/** From here on the windows lie within the fault, or after the start. */
const FROM = 60;

/** Simulated bodies, wearables and faults that nothing was tuned on: whatever a reading is worth, it says so. */
describe('readings of simulated bodies', () => {
  const faults = (kind: 'motion' | 'noise' | 'off', strength = 1) => ({
    faults: { episodes: [{ kind, from: 20, until: SECONDS, strength }] },
  });
  const lost = (dropped: number) => ({ faults: { dropped, reordered: 0.1, repeated: 0.1, late: 0.05 } });
  const BODIES: Readonly<Record<string, SimulatorOptions>> = {
    'an athlete asleep': { hr: 36, rr: 9 },
    'a resting adult': { hr: 64, rr: 14 },
    'a child': { hr: 115, rr: 26 },
    'a newborn': { hr: 160, rr: 42 },
    'low oxygen': { hr: 96, rr: 24, spo2: 88 },
    'a sprint': {
      hr: [
        [0, 70],
        [40, 70],
        [60, 160],
      ],
    },
    'a slow walk': { hr: 90, cadenceHz: 1.7, ...faults('motion', 0.4) },
    'a run': { hr: 140, cadenceHz: 2.6, ...faults('motion', 1) },
    'swinging arms': { hr: 100, cadenceHz: 0.7, ...faults('motion', 2) },
    'a noisy sensor': { hr: 80, ...faults('noise', 1) },
    'a very noisy sensor': { hr: 80, ...faults('noise', 5) },
    'a link that loses 3 % of the frames': { hr: 84, ...lost(0.03) },
    'a link that loses 10 % of the frames': { hr: 84, ...lost(0.1) },
    'a link that loses 30 % of the frames': { hr: 84, ...lost(0.3) },
  };

  for (const [wearable, modalities] of Object.entries(WEARABLES)) {
    it(`are never trusted and wrong, with a ${wearable}`, async () => {
      for (const [body, options] of Object.entries(BODIES))
        for (const seed of [101, 102]) {
          const wrong = (await trusted({ seed, ...options }, modalities)).filter(({ type, off }) => off > WRONG[type]);
          expect(wrong, `${body}, seed ${seed}`).to.deep.equal([]);
        }
    });

    it(`are not trusted once a ${wearable} has left the skin`, async () => {
      for (const seed of [103, 104])
        for (const hr of [55, 72, 110]) {
          const readings = await trusted({ seed, hr, ...faults('off') }, modalities);
          expect(readings, `${hr} bpm, seed ${seed}`).to.deep.equal([]);
        }
    });
  }

  /** Simulated bodies by their options, with all of their frames: each is measured with every wearable. */
  const made = new Map<string, Simulator>();
  function simulated(options: SimulatorOptions): Simulator {
    const name = JSON.stringify(options);
    const known = made.get(name);
    if (known) return known;
    const simulator = simulate({ seconds: SECONDS, ...options });
    const frames = [...simulator.frames()];
    const body = { ...simulator, frames: () => frames };
    made.set(name, body);
    return body;
  }
  after(() => made.clear());

  /** The trusted readings, with their error against the mean of the truth over the window. */
  async function trusted(options: SimulatorOptions, modalities: readonly string[]) {
    const simulator = simulated(options);
    const readings = [];
    for await (const { type, value, confidence, actual_end } of analyseOffline(part(simulator, modalities), null)) {
      const end = actual_end / 1000;
      if (confidence < 0.5 || end < FROM) continue;
      if (type === 'hrv' || type === 'rhythm') {
        const truth = type === 'hrv' ? rmssd(simulator.beats(end - WINDOW.hrv, end)) : 0;
        readings.push({ type, end, value, off: Math.abs(value - truth) });
        continue;
      }
      const times = Array.from({ length: 16 }, (_, i) => end - (WINDOW[type] * (i + 0.5)) / 16);
      const truth = times.reduce((sum, t) => sum + simulator.truth(t)[type], 0) / times.length;
      readings.push({ type, end, value, off: Math.abs(value - truth) });
    }
    return readings;
  }
});

/** Root mean square of the differences of successive intervals between these times (s), ms. */
function rmssd(beats: readonly number[]): number {
  const intervals = beats.slice(1).map((beat, i) => 1000 * (beat - (beats[i] ?? beat)));
  const squares = intervals.slice(1).map((each, i) => (each - (intervals[i] ?? each)) ** 2);
  return Math.sqrt(squares.reduce((sum, square) => sum + square, 0) / squares.length);
}

/** A device with some of the sensors. */
function part(source: FrameSource, modalities: readonly string[]): FrameSource {
  const { deviceModel } = source;
  const kept = deviceModel.modality_channels.flatMap((c, i) => (modalities.includes(c.modality) ? [i] : []));
  return {
    ...source,
    deviceModel: {
      ...deviceModel,
      modality_channels: kept.flatMap((i) => deviceModel.modality_channels[i] ?? []),
    },
    async *frames() {
      for await (const frame of source.frames())
        if (kept.includes(frame.channel)) yield { ...frame, channel: kept.indexOf(frame.channel) };
    },
  };
}
