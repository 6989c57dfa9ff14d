import { expect } from 'chai';
import { analyse } from '../analyse.js';
import { scoreWindows } from '../score.js';
import { type RestRecording, restBench, SENSORS } from './bench.js';

const made = (seed: number, count: number) => [...restBench(seed, count)];

async function first({ source }: RestRecording): Promise<number[]> {
  for await (const { samples } of source.frames()) return [...samples];
  return [];
}

describe('the rest bench', () => {
  it('makes recordings of each sensor, with breaths and, but for belts, heart rates', () => {
    expect(made(1, 2).map(({ sensor, reference }) => [sensor, reference.types.join()])).to.deep.equal([
      ['ppg', 'hr,rr'],
      ['ppg', 'hr,rr'],
      ['ecg', 'hr,rr'],
      ['ecg', 'hr,rr'],
      ['resp', 'rr'],
      ['resp', 'rr'],
    ]);
  });

  it('makes the same recordings for the same seed, and others for another seed', async () => {
    const [one, same, other] = await Promise.all(
      [5, 5, 6].map((seed) => made(seed, 1).map(first)).map((all) => Promise.all(all)),
    );
    expect(same).to.deep.equal(one);
    expect(other).to.not.deep.equal(one);
  });

  it('knows the rates: from little noise, each sensor reads within 3 of nearly all', async () => {
    for (const wanted of SENSORS) {
      const clean = made(7, 12).filter(({ sensor, snr }) => sensor === wanted && snr > 12);
      expect(clean.length, wanted).to.be.greaterThan(1);
      const type = wanted === 'resp' ? 'rr' : 'hr';
      const windows = await Promise.all(
        clean.map(async ({ source, reference }) => scoreWindows(reference, await analyse(source, null))),
      );
      const own = windows
        .flat()
        .filter((window) => window.type === type && window.answer && window.answer.confidence >= 0.5);
      const near = own.filter(({ reference, answer }) => Math.abs((answer?.value ?? 0) - reference) <= 3);
      expect(near.length / own.length, wanted).to.be.greaterThan(0.97);
    }
  });
});
