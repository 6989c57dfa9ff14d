import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '@device-insights/fanout/platform/clock';
import { expect } from 'chai';
import type { StoredInsight } from '../../insight.js';
import type { InsightQuery, Session, Store } from '../store.js';
import { allPages, newMoment, partOf, sampleInsight, sampleSession } from '../suite/samples.js';
import { Database } from './database.js';
import { openEmbeddedStore } from './embedded.js';
import type { Tables } from './kinds.js';
import { tablesOn } from './tables.js';

/** Insights of the device, mostly heart rates. */
const COUNT = 15_000;
/** The few others: the first and the last, two that follow each other, and one far from any other. */
const BREATHS = [0, 5000, 5001, 11_000, COUNT - 1];

describe('a search of the embedded store for what few insights match', () => {
  let directory: string;
  let store: Store;
  /** A connection in this thread, whose turns the tests count. */
  let db: Database;
  let tables: Tables;
  let session: Session;
  let breaths: StoredInsight[];
  const query = (fields: Partial<InsightQuery>): InsightQuery => ({
    ...{ accountId: session.accountId, user: null, type: null, since: null, until: null, limit: 100, cursor: null },
    ...fields,
  });

  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'device-insights-'));
    store = await openEmbeddedStore(directory, systemClock);
    db = Database.toRead(join(directory, 'device-insights.db'), systemClock);
    tables = tablesOn(db);
    session = sampleSession({ user: 'ann' });
    await store.openSession(session);
    const at = newMoment();
    const all = Array.from({ length: COUNT }, (_, i) =>
      sampleInsight(session, at + i * 1000, undefined, { type: BREATHS.includes(i) ? 'rr' : 'hr' }),
    );
    breaths = all.filter(({ type }) => type === 'rr');
    await store.commit([partOf(session, all)]);
  });
  after(async () => {
    db.close();
    await store.close();
    await rm(directory, { recursive: true, maxRetries: 10 });
  });

  /** What a search finds, and the turns of the thread that others got meanwhile. */
  async function searched(fields: Partial<InsightQuery>, signal?: AbortSignal) {
    let turns = 0;
    let next: NodeJS.Immediate;
    const count = () => {
      turns += 1;
      next = setImmediate(count);
    };
    next = setImmediate(count);
    const { rows } = await tables.insights(query(fields), signal);
    clearImmediate(next);
    return { rows, turns };
  }

  for (const since of [null, 0])
    it(`finds them all, ${since === null ? 'from the last one' : 'from the first one on'}, page by page`, async () => {
      const pages = await allPages((cursor) => store.insights(query({ type: 'rr', since, limit: 2, cursor })));
      const found = since === null ? pages.reverse().flat() : pages.flat();
      expect(found).to.deep.equal(breaths);
      expect(pages).to.have.length(3);
    });

  it('leaves the thread to others between slices', async () => {
    const slices = Math.floor(COUNT / 2000);
    for (const since of [null, 0]) {
      const none = await searched({ type: 'spo2', since });
      expect(none.rows).to.deep.equal([]);
      expect(none.turns).to.be.at.least(slices - 1);
      const others = await searched({ deviceId: session.deviceId, user: 'bob', since });
      expect(others.rows).to.deep.equal([]);
    }
  });

  it('reads one slice a turn, however many search', async () => {
    const both = await Promise.all([searched({ type: 'spo2' }), searched({ type: 'spo2' })]);
    expect(Math.max(...both.map(({ turns }) => turns))).to.be.at.least(2 * Math.floor(COUNT / 2000) - 2);
  });

  it('reads one slice a turn when many searches begin at once, too', async () => {
    const many = await Promise.all(Array.from({ length: 20 }, () => searched({ type: 'hr', limit: 1 })));
    expect(Math.max(...many.map(({ turns }) => turns))).to.be.at.least(19);
  });

  it('ends when its page is full', async () => {
    const { rows, turns } = await searched({ type: 'hr', limit: 1 });
    expect(rows).to.have.length(1);
    expect(turns).to.be.at.most(2);
  });

  it('ends when nobody waits for it any more', async () => {
    expect((await searched({ type: 'spo2' }, AbortSignal.abort())).turns).to.be.at.most(1);
    const search = store.insights(query({ type: 'rr', since: 0 }), AbortSignal.abort('gone'));
    expect(await search.catch(String)).to.equal('gone');
  });
});
