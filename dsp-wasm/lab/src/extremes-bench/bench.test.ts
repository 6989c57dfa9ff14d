import type { FrameSource } from '@device-insights/sdk';
import { expect } from 'chai';
import { analyse } from '../analyse.js';
import { Draws } from '../motion-bench/random.js';
import { type Answer, toleranceOf } from '../score.js';
import { CURVE, type Extreme, extremesBench, KINDS, type Kind, record, scoreExtreme, type Wave } from './bench.js';

const SECONDS = 90;

const kindOf = (what: string) => KINDS.find((kind) => kind.what === what) as Kind;

function made(what: string, value: number, rate: number, change = (wave: Wave) => wave): FrameSource {
  const kind = kindOf(what);
  const waves = kind.waves(value, kind.shapes[1] ?? kind.shapes[0] ?? 0, kind.noises[0] ?? 0);
  return record(what, waves.map(change), rate, SECONDS, new Draws(7, value));
}

/** Each sample twice, as of two equal sub-channels. */
function doubled(recording: FrameSource): FrameSource {
  const { deviceModel } = recording;
  const channels = deviceModel.modality_channels.map((channel) => ({ ...channel, num_channels: 2 }));
  return {
    ...recording,
    deviceModel: { ...deviceModel, modality_channels: channels },
    async *frames() {
      for await (const frame of recording.frames()) yield { ...frame, samples: twice(frame.samples) };
    },
  };
}

const twice = (samples: ArrayLike<number>) => Float64Array.from(Array.from(samples).flatMap((v) => [v, v]));

describe('the bench of extremes', () => {
  it('makes a recording for each shape, noise and sampling rate, the same for the same seed', async () => {
    const first = (seed: number) => extremesBench(seed).next().value as Extreme;
    const { kind, recordings } = first(1);
    expect(recordings).to.have.length(kind.shapes.length * kind.noises.length * kind.rates.length);
    const samplesOf = async (seed: number) => {
      const samples: number[] = [];
      for await (const frame of first(seed).recordings[0]?.frames() ?? []) samples.push(...frame.samples);
      return samples;
    };
    expect(await samplesOf(1)).to.deep.equal(await samplesOf(1));
    expect(await samplesOf(1)).to.not.deep.equal(await samplesOf(2));
  });

  it('scores trusted and wrong readings, and the time of the first trusted one', () => {
    const answer = (end: number, value: number, confidence: number): Answer => {
      return { type: 'hr', value, confidence, actual_end: 1000 * end };
    };
    const extreme = { kind: kindOf('light'), value: 60, recordings: [] };
    const answers = [answer(8, 60, 0.9), answer(20, 61, 0.9), answer(21, 72, 0.6), answer(22, 90, 0.1)];
    expect(scoreExtreme(extreme, [answers, []])).to.deep.equal({
      what: 'light 60',
      readings: 3,
      'trusted %': 66.7,
      'wrong but trusted %': 33.33,
      'worst error': 30,
      'worst error, trusted': 12,
      'first trusted, s': 8,
    });
  });
});

describe('a reading', () => {
  const signals = [
    ['light', 72, 50],
    ['ECG', 72, 250],
    ['breath, belt', 14, 25],
    ['SpO2', 88, 50],
  ] as const;
  const changes: Record<string, (what: string, value: number, rate: number) => FrameSource> = {
    'another scale': (...signal) => made(...signal, (w) => ({ ...w, at: (t) => 3 * w.at(t), noise: 3 * w.noise })),
    // The ratio of SpO2 refers to the level
    'another offset': (what, ...signal) =>
      made(what, ...signal, (w) => (what === 'SpO2' ? w : { ...w, at: (t) => w.at(t) + 20_000 })),
    'twice the sampling rate': (what, value, rate) => made(what, value, 2 * rate),
    'an inverted ECG': (what, ...signal) =>
      made(what, ...signal, (w) => (what === 'ECG' ? { ...w, at: (t) => -w.at(t) } : w)),
    'a second, equal sub-channel': (...signal) => doubled(made(...signal)),
  };
  for (const [change, changed] of Object.entries(changes)) {
    it(`is the same within the tolerance, and trusted, with ${change}`, async () => {
      for (const [what, value, rate] of signals) {
        const { type } = kindOf(what);
        const own = (answers: readonly Answer[]) =>
          answers.filter((answer) => answer.type === type && answer.actual_end >= 60_000);
        const [before, after] = [
          own(await analyse(made(what, value, rate), CURVE)),
          own(await analyse(changed(what, value, rate), CURVE)),
        ];
        expect(after, what).to.have.length(before.length);
        for (const [i, answer] of after.entries()) {
          expect(answer.value, what).to.be.closeTo(before[i]?.value ?? 0, toleranceOf(type, value));
          expect(answer.value, what).to.be.closeTo(value, toleranceOf(type, value));
          expect(answer.confidence, what).to.be.at.least(0.5);
        }
      }
    });
  }
});
