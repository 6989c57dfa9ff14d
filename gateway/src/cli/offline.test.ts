import { simulate } from '@device-insights/sdk/simulator';
import { expect } from 'chai';
import type { StoredInsight } from '../insight.js';
import { nameUuid } from '../uuid.js';
import { analyseOffline } from './offline.js';

async function analyse(...options: Parameters<typeof simulate>): Promise<StoredInsight[]> {
  const insights: StoredInsight[] = [];
  for await (const insight of analyseOffline(simulate(...options), null)) insights.push(insight);
  return insights;
}

describe('offline analysis', () => {
  it("finds the simulator's vital signs at rest", async () => {
    const insights = await analyse({ hr: 66, rr: 14, spo2: 95, seconds: 60 });
    const medianOf = (type: string) => {
      const values = insights.filter((insight) => insight.type === type).map(({ value }) => value);
      return values.sort((a, b) => a - b)[values.length >> 1];
    };
    expect(medianOf('spo2')).to.be.closeTo(95, 1);
    expect(medianOf('hr')).to.be.closeTo(66, 1);
    expect(medianOf('rr')).to.be.closeTo(14, 1);
  });

  it('gives the stored form, published at the end of each window, with t = 0 as 0 ms', async () => {
    const insights = await analyse({ seconds: 20 });
    expect(insights.filter(({ type }) => type === 'spo2').map(({ actual_end }) => actual_end)).to.deep.equal(
      Array.from({ length: 17 }, (_, i) => 4000 + 1000 * i),
    );
    for (const insight of insights)
      expect(insight).to.include({
        ts: insight.actual_end,
        e2e_latency_ms: 0,
        session_id: nameUuid('simulator-1/session'),
        device_id: 'simulator-1',
      });
  });

  it('gives the same insights on every run', async () => {
    const options = { seconds: 40, faults: { dropped: 0.05, reordered: 0.1, jitterMs: 3 } };
    expect(await analyse(options)).to.deep.equal(await analyse(options));
  });

  it('counts a gap as less coverage, as the live analysis does', async () => {
    const insights = await analyse({ seconds: 30, faults: { episodes: [{ kind: 'gap', from: 10, until: 13 }] } });
    const at = (end: number) =>
      insights.find(({ type, actual_end }) => type === 'spo2' && actual_end === end)?.coverage;
    expect(at(10_000)).to.equal(1);
    expect(at(16_000)).to.be.closeTo(5 / 8, 0.01);
    expect(at(22_000)).to.equal(1);
  });

  it('names objects by UUIDs of version 5, always the same', () => {
    expect(nameUuid('a')).to.match(/^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(nameUuid('a')).to.equal(nameUuid('a')).and.not.equal(nameUuid('b'));
  });
});
