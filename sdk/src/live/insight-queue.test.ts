import { expect } from 'chai';
import { REMEMBERED_MS } from '../limits.js';
import { InsightQueue } from './insight-queue.js';

const START = 1_763_600_000_000;

describe('a queue of insights', () => {
  it('remembers a series for an hour after its newest insight, whenever its first one came', () => {
    const queue = new InsightQueue(10, () => true);
    const add = (session_id: string, ms: number) =>
      queue.add({
        ...{ type: 'hr', value: 72, unit: 'bpm', ts: START + ms, session_id, device_id: 'd' },
        ...{ confidence: 1, sqi_class: 'excellent' },
      } as const);
    const has = (session_id: string, ms: number) => queue.has({ session_id, type: 'hr', ts: START + ms });
    for (const [session, ms] of [
      ['early and late', 0],
      ['early', 1],
      ['early and late', REMEMBERED_MS / 2],
      ['newest', REMEMBERED_MS + 1],
    ] as const)
      add(session, ms);
    expect([has('early', 1), has('early and late', 0), has('newest', 0)]).to.deep.equal([true, true, true]);
    add('newest', REMEMBERED_MS + 2);
    expect([has('early', 1), has('early and late', 0), has('newest', 0)]).to.deep.equal([false, true, true]);
  });
});
