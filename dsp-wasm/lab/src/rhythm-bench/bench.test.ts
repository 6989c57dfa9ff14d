import { analyseOffline, peaksOffline } from '@device-insights/gateway/offline';
import { expect } from 'chai';
import { Draws } from '../motion-bench/random.js';
import { HZ, type Signal } from '../motion-bench/signal.js';
import type { Source } from '../motion-bench/source.js';
import { type RhythmRecording, rhythmBench } from './bench.js';
import { type Beat, beatsOf, RHYTHMS, type Rhythm } from './rhythms.js';

const SECONDS = 40;

const noise = (seed: number): Signal => {
  const draws = new Draws(seed);
  return Float64Array.from({ length: SECONDS * HZ }, () => draws.normal());
};
const still = (level: number): Signal => new Float64Array(SECONDS * HZ).fill(level);

/** A wrist that lies still. */
const REST: Source = {
  id: 'rest',
  axes: [still(0), still(0), still(1)],
  artefacts: [noise(1)],
  rate: still(70),
};

function intervals(beats: readonly Beat[]): number[] {
  return beats.slice(1).map(({ time }, i) => time - (beats[i]?.time ?? 0));
}

function variation(x: readonly number[]): number {
  const mean = x.reduce((a, b) => a + b) / x.length;
  return Math.sqrt(x.reduce((a, b) => a + (b - mean) ** 2, 0) / x.length) / mean;
}

const hour = (rhythm: Rhythm, seed: number) => beatsOf(rhythm, new Draws(seed), 3600);
const recordings = (suffix: string, rhythm: Rhythm) =>
  [...rhythmBench([REST], 3)].find((r) => r.rhythm === rhythm && r.reference.id.endsWith(suffix)) as RhythmRecording;

describe('the bench of irregular rhythm', () => {
  it('makes a recording with PPG and one with ECG of each rhythm', () => {
    const made = [...rhythmBench([REST], 1)].map(({ reference }) => reference.id);
    expect(made).to.deep.equal(RHYTHMS.flatMap((r) => [`${r}-rest-1-ppg`, `${r}-rest-1-ecg`]));
  });

  it('generates the same recordings for the same seed, and others for another seed', () => {
    const beats = (seed: number) => beatsOf('fibrillation', new Draws(seed), 60);
    expect(beats(1)).to.deep.equal(beats(1));
    expect(beats(1)).to.not.deep.equal(beats(2));
  });

  it('varies the intervals of atrial fibrillation by 15 to 35 %, at 50 to 150 bpm, and those of a sinus rhythm by less than 8 %', () => {
    for (const seed of [1, 2, 3, 4, 5, 6]) {
      const fibrillating = intervals(hour('fibrillation', seed));
      expect(variation(fibrillating)).to.be.within(0.15, 0.35);
      expect((60 * fibrillating.length) / 3600).to.be.within(50, 150);
      expect(variation(intervals(hour('sinus', seed)))).to.be.below(0.08);
    }
  });

  it('lets two intervals around a premature ventricular beat last as long as two normal ones', () => {
    const beats = hour('bigeminy', 1);
    const all = intervals(beats);
    for (const [i, { origin }] of beats.entries()) {
      if (origin !== 'ventricular' || i < 2) continue;
      const [before = 0, coupling = 0, pause = 0] = all.slice(i - 2, i + 1);
      expect(coupling).to.be.below(0.85 * pause);
      if (beats[i - 2]?.origin === 'sinus') expect(coupling + pause).to.be.closeTo(2 * before, 0.25 * 2 * before);
    }
  });

  it('knows the rate: in a sinus rhythm the core reads PPG and ECG within 3 bpm', async () => {
    for (const suffix of ['-ppg', '-ecg']) {
      const { source, reference } = recordings(suffix, 'sinus');
      const rates = new Map(reference.windows.map(({ end, values }) => [end * 1000, values.hr]));
      for await (const { type, value, actual_end } of analyseOffline(source, null)) {
        const rate = rates.get(actual_end);
        if (type === 'hr' && rate !== undefined && actual_end > 10_000) expect(value).to.be.closeTo(rate, 3);
      }
    }
  });

  it('knows the beats: as many R peaks are found in atrial fibrillation as the reference has', async () => {
    const { source, reference } = recordings('-ecg', 'fibrillation');
    const peaks: number[] = [];
    for await (const { t } of peaksOffline(source)) peaks.push(t / 1000);
    for (const { end, values } of reference.windows.slice(4)) {
      const own = peaks.filter((t) => t > end - 8 && t <= end);
      const rate = (60 * (own.length - 1)) / ((own.at(-1) ?? 0) - (own[0] ?? 0));
      expect(rate).to.be.closeTo(values.hr ?? 0, 0.2 * rate);
    }
  });
});
