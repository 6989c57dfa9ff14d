import { expect } from 'chai';
import type { Beat } from '../beat.js';
import { tachogramsOf } from './tachogram.js';

const T0 = Date.UTC(2026, 2, 1);

/** Beats of one source, with these intervals, ms; the first is at T0. */
function beatsOf(source: Beat['source'], intervals: readonly number[], quality = 0.9): Beat[] {
  let t = T0;
  return [0, ...intervals].map((interval) => {
    t += interval;
    return { t, source, quality };
  });
}

async function* inBatches(beats: readonly Beat[]) {
  for (let i = 0; i < beats.length; i += 7) yield beats.slice(i, i + 7);
}

describe('the tachogram of a session', () => {
  it('has the intervals of each source, and pairs of those that follow each other, ascending', async () => {
    const both = [...beatsOf('ecg', [810.4, 790, 830]), ...beatsOf('ppg', [805])].sort((a, b) => a.t - b.t);
    const [ecg, ppg] = await tachogramsOf(inBatches(both), null);
    expect(ecg).to.deep.equal({
      source: 'ecg',
      t: [T0 + 810.4, T0 + 1600.4, T0 + 2430.4],
      rr: [810.4, 790, 830],
      former: [790, 810.4],
      next: [830, 790],
      intervals: 3,
      thinned: false,
    });
    expect(ppg).to.include({ source: 'ppg', intervals: 1 });
  });

  it('has a gap where a beat is missing or doubtful', async () => {
    const [first, second, third, fourth] = beatsOf('ecg', [800, 800, 3000]) as [Beat, Beat, Beat, Beat];
    const [tachogram] = await tachogramsOf(inBatches([first, { ...second, quality: 0.4 }, third, fourth]), null);
    expect(tachogram?.rr).to.deep.equal([null, null, null]);
    expect(tachogram).to.deep.include({ former: [], intervals: 0 });
  });

  it('ends at a time, and is none without beats', async () => {
    const [tachogram] = await tachogramsOf(inBatches(beatsOf('ecg', Array(20).fill(800))), T0 + 4000);
    expect(tachogram?.t).to.deep.equal([1, 2, 3, 4, 5].map((i) => T0 + 800 * i));
    expect(await tachogramsOf(inBatches([]), null)).to.deep.equal([]);
  });

  it('leaves out stretches of very many intervals, and joins none across them', async () => {
    const intervals = Array.from({ length: 100_000 }, (_, i) => 600 + i / 1000);
    const [tachogram] = await tachogramsOf(inBatches(beatsOf('ecg', intervals)), null);
    expect(tachogram).to.include({ intervals: 100_000, thinned: true });
    expect(tachogram?.t).to.have.length(4000);
    expect(tachogram?.t.at(-1)).to.be.greaterThan(T0 + 0.97 * 100_000 * 650);
    for (const [i, former] of tachogram?.former.entries() ?? [])
      expect((tachogram?.next[i] ?? 0) - former).to.be.within(0, 0.3);
  });
});
