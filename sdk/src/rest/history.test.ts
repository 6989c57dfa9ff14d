import { expect } from 'chai';
import type { Insight } from '../generated/types.gen.js';
import { type HistoryQuery, type ReadHistory, readStored } from './history.js';

const MINUTE_MS = 60_000;

describe('reading stored insights', () => {
  let stored: number[];
  let asked: HistoryQuery[];
  /** Pages of two of the insights stored at `stored`. */
  const read: ReadHistory = async (query) => {
    asked.push(query);
    if (query.since === undefined) return { data: rows(stored.slice(-1)), next: null };
    const { since, until = Number.POSITIVE_INFINITY, cursor = '0' } = query;
    const chosen = stored.filter((ts) => ts >= since && ts < until);
    const end = Number(cursor) + 2;
    return { data: rows(chosen.slice(Number(cursor), end)), next: end < chosen.length ? `${end}` : null };
  };
  const rows = (times: readonly number[]) => times.map((ts) => ({ ts, session_id: 's', type: 'hr' }) as Insight);

  beforeEach(() => {
    [stored, asked] = [[], []];
  });

  it('reads insights once if they are more than 10 s older than the newest, and the rest twice', async () => {
    stored = [1, 2, 3, MINUTE_MS, MINUTE_MS + 1];
    const batches: number[][] = [];
    for await (const batch of readStored(read, 1)) batches.push(batch.map(({ ts }) => ts));
    expect(batches).to.deep.equal([[1, 2], [3, MINUTE_MS], [MINUTE_MS + 1]]);
    const all = { since: 1, limit: 1000 };
    const rest = { since: MINUTE_MS + 1 - 10_000, limit: 1000 };
    expect(asked).to.deep.equal([{ limit: 1 }, rest, all, { ...all, cursor: '2' }, { ...all, cursor: '4' }]);
  });

  it('leaves out what is stored while it reads, which a subscription receives by its socket', async () => {
    stored = [1, MINUTE_MS];
    const seen: number[] = [];
    for await (const batch of readStored(read, 1)) {
      if (seen.length === 0) stored.push(MINUTE_MS + 1, 2 * MINUTE_MS);
      seen.push(...batch.map(({ ts }) => ts));
    }
    expect(seen).to.deep.equal([1, MINUTE_MS]);
  });

  it('is nothing where nothing is stored', async () => {
    for await (const batch of readStored(read, 1)) expect(batch).to.deep.equal([]);
  });
});
