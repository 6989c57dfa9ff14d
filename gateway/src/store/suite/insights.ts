import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { Beat } from '../../beat.js';
import type { StoredInsight } from '../../insight.js';
import { BadCursor, type InsightQuery, type Session, type Store } from '../store.js';
import {
  allPages,
  collected,
  commitAll,
  type Handles,
  NO_PROGRESS,
  newMoment,
  opened,
  partOf,
  rejection,
  sampleBlock,
  sampleInsight,
  sampleSession,
} from './samples.js';

export function insightSuite(handles: Handles): void {
  commits(handles);
  listsOfASession(handles);
  beats(handles);
  summaries(handles);
  lists(handles);
}

async function insightsOf(store: Store, { id }: Session): Promise<StoredInsight[]> {
  return (await collected(store.sessionInsights(id))).flat();
}

function summaries({ store, other }: Handles): void {
  describe('the summary of a session', () => {
    it('counts the readings of each class, and takes mean, minimum and maximum of the trusted ones alone', async () => {
      const [session, another] = [await opened(store), await opened(store)];
      const at = newMoment();
      const HOUR_MS = 3_600_000;
      const hr = [
        ...([60, 61, 62, 81] as const).map((value, i) =>
          sampleInsight(session, at + i * HOUR_MS, undefined, { value }),
        ),
        sampleInsight(session, at + 9_000_000_000, undefined, { value: 50, sqi_class: 'acceptable' }),
        ...[199, 31].map((value, i) =>
          sampleInsight(session, at + 500 + i, undefined, { value, sqi_class: 'unfit', confidence: 0.1 }),
        ),
      ];
      const rr = sampleInsight(session, at, undefined, { type: 'rr', value: 12, sqi_class: 'unfit' });
      const spo2 = sampleInsight(another, at, undefined, { type: 'spo2', value: 97 });
      hr.sort((a, b) => a.ts - b.ts);
      await store.commit([partOf(session, [...hr, rr]), partOf(another, [spo2])]);
      expect(await other.sessionSummary(session.id)).to.deep.equal([
        {
          type: 'hr',
          readings: { excellent: 4, acceptable: 1, unfit: 2 },
          trusted: { mean: (60 + 61 + 62 + 81 + 50) / 5, min: 50, max: 81 },
        },
        { type: 'rr', readings: { excellent: 0, acceptable: 0, unfit: 1 }, trusted: null },
      ]);
    });

    it('of a session without readings is empty', async () => {
      expect(await store.sessionSummary((await opened(store)).id)).to.deep.equal([]);
      expect(await store.sessionSummary(randomUUID())).to.deep.equal([]);
    });
  });
}

function commits({ store, other }: Handles): void {
  describe('a commit', () => {
    it('stores insights and progress of several sessions exactly', async () => {
      const [one, two] = [await opened(store), await opened(store, { user: 'ann' })];
      const at = newMoment();
      const hr = sampleInsight(one, at + 0.25, at + 300, {
        value: -0.5,
        confidence: 0,
        sqi_class: 'unfit',
        coverage: 1,
      });
      const window = { actual_start: at - 32_000, algorithm: 'rr-ppg@2.1.0' };
      const rr = sampleInsight(one, at, at + 300, { type: 'rr', confidence: 0.5, sqi_class: 'acceptable', ...window });
      const spo2 = sampleInsight(two, at, at + 300, { type: 'spo2', value: 98_765_432.123 });
      const hrv = sampleInsight(two, at + 1, at + 300, { type: 'hrv', value: 41.7, sdnn: 50.2, pnn50: 0 });
      const rhythm = sampleInsight(two, at + 2, at + 300, { type: 'rhythm', value: 0.3 });
      const progress = { ...NO_PROGRESS, nextSeq: { '0': 2 ** 32, '12': 0 }, lastDataAt: at, firstInstant: at - 0.5 };
      expect(await store.commit([partOf(one, [hr, rr], progress), partOf(two, [spo2, hrv, rhythm])])).to.deep.equal([
        { lost: false, written: [hr, rr] },
        { lost: false, written: [spo2, hrv, rhythm] },
      ]);
      expect(await insightsOf(other, one)).to.deep.equal([rr, hr]);
      expect(await insightsOf(other, two)).to.deep.equal([spo2, hrv, rhythm]);
      expect(await other.session(one.id)).to.deep.equal({ ...one, progress });
      expect(await other.session(two.id)).to.deep.equal(two);
    });

    it('may be empty, or contain only progress', async () => {
      const session = await opened(store);
      const counted = { 3: { seq: 70, time: 1.5, period: 9.75 } };
      const progress = {
        ...NO_PROGRESS,
        clockShift: 12,
        counted,
        slips: { 0: { seq: 7, ms: 3_600_000.5, lead: 0.5 } },
      };
      expect(await store.commit([])).to.deep.equal([]);
      expect(await store.commit([partOf(session, [], progress)])).to.deep.equal([{ lost: false, written: [] }]);
      expect((await store.session(session.id))?.progress).to.deep.equal(progress);
    });

    it('drops the parts whose session is no longer the owner’s, and keeps the others', async () => {
      const at = newMoment();
      const [kept, taken, ended] = [await opened(store), await opened(store), await opened(store)];
      await store.claimSession(taken.id, 1, randomUUID());
      await store.claimSession(ended.id, 1, randomUUID());
      await store.closeSession(ended.id, 2, at);
      const stranger = { ...kept, gateway: randomUUID() };
      const parts = [taken, ended, sampleSession(), stranger, kept].map((s) =>
        partOf(s, [sampleInsight(s, at)], { ...NO_PROGRESS, lastDataAt: at }),
      );
      const results = await store.commit(parts);
      expect(results.map(({ lost }) => lost)).to.deep.equal([true, true, true, true, false]);
      expect((await store.session(taken.id))?.progress).to.deep.equal(NO_PROGRESS);
      expect(await insightsOf(store, taken)).to.deep.equal([]);
      expect(await insightsOf(store, ended)).to.deep.equal([]);
      expect(await insightsOf(store, kept)).to.have.length(1);
    });

    it('adds to a session that was closed for its owner, reports that, and moves its end to the last data', async () => {
      const session = await opened(store);
      const at = newMoment();
      const [first, second] = [sampleInsight(session, at), sampleInsight(session, at + 1000)];
      await store.commit([partOf(session, [first], { ...NO_PROGRESS, lastDataAt: at })]);
      await other.closeSession(session.id, 1, at);
      const progress = { ...NO_PROGRESS, lastDataAt: at + 1000 };
      for (const [recorded, written] of [
        [null, [second]],
        [progress, []],
      ] as const)
        expect(await store.commit([partOf(session, [first, second], recorded)])).to.deep.equal([
          { lost: false, written, closed: true },
        ]);
      expect(await other.session(session.id)).to.deep.include({ status: 'closed', endedAt: at + 1000, progress });
      expect(await insightsOf(other, session)).to.deep.equal([first, second]);
    });

    it('leaves out insights with the window or the publication time of another one of the session and type', async () => {
      const [session, another] = [await opened(store), await opened(store)];
      const at = newMoment();
      const first = sampleInsight(session, at, at + 100);
      await store.commit([partOf(session, [first])]);
      const [sameWindow, sameMoment] = [sampleInsight(session, at, at + 200), sampleInsight(session, at + 1, at + 100)];
      const otherType = sampleInsight(session, at, at + 100, { type: 'rr' });
      const next = sampleInsight(session, at + 1000, at + 1100);
      const nextAgain = sampleInsight(session, at + 1000, at + 1200);
      const otherSession = sampleInsight(another, at, at + 100);
      const results = await store.commit([
        partOf(session, [sameWindow, otherType, sameMoment, next, nextAgain]),
        partOf(another, [otherSession]),
      ]);
      expect(results).to.deep.equal([
        { lost: false, written: [otherType, next] },
        { lost: false, written: [otherSession] },
      ]);
      expect(await insightsOf(store, session)).to.have.deep.members([first, otherType, next]);
    });

    it('writes nothing twice for two identical simultaneous commits', async () => {
      const session = await opened(store);
      const at = newMoment();
      const group = Array.from({ length: 5 }, (_, i) => sampleInsight(session, at + i * 1000));
      const results = await Promise.all([store, other, store].map((handle) => handle.commit([partOf(session, group)])));
      const written = results.flat().flatMap((result) => (result.lost ? [] : result.written));
      expect(written).to.have.deep.members(group);
      expect(await insightsOf(store, session)).to.deep.equal(group);
    });

    it('is stored completely or not at all if the session is taken over at the same time', async () => {
      for (let round = 0; round < 6; round++) {
        const session = await opened(store);
        const at = newMoment();
        const group = [sampleInsight(session, at), sampleInsight(session, at + 1000)];
        const [[result], claimed] = await Promise.all([
          store.commit([partOf(session, group, { ...NO_PROGRESS, lastDataAt: at })]),
          other.claimSession(session.id, 1, randomUUID()),
        ]);
        expect(claimed?.epoch).to.equal(2);
        const stored = await insightsOf(other, session);
        expect(stored).to.deep.equal(result?.lost ? [] : group);
        expect((await other.session(session.id))?.progress.lastDataAt).to.equal(result?.lost ? null : at);
      }
    });

    it('updates the newest insight of each type', async () => {
      const session = await opened(store);
      const at = newMoment();
      expect(await store.lastInsights(session.id)).to.deep.equal({});
      const rr = sampleInsight(session, at + 500, at + 900, { type: 'rr' });
      await store.commit([
        partOf(session, [sampleInsight(session, at), rr, sampleInsight(session, at + 1000.5, at + 1120)]),
      ]);
      expect(await other.lastInsights(session.id)).to.deep.equal({
        hr: { ts: at + 1120, actualEnd: at + 1000.5 },
        rr: { ts: at + 900, actualEnd: at + 500 },
      });
    });
  });
}

function listsOfASession({ store, other }: Handles): void {
  describe('the insights of a session', () => {
    it('are read completely, by end of window and then publication, in batches', async () => {
      const session = await opened(store);
      const at = newMoment();
      const all = Array.from({ length: 603 }, (_, i) => {
        const type = (['hr', 'spo2', 'rr'] as const)[i % 3] ?? 'hr';
        return sampleInsight(session, at + Math.floor(i / 3), at + 5000 + i, { type });
      });
      await commitAll(store, session, all);
      all.sort((a, b) => a.actual_end - b.actual_end || a.ts - b.ts);
      const batches = await collected(other.sessionInsights(session.id));
      expect(batches.flat()).to.deep.equal(all);
      expect(batches.length).to.be.greaterThan(1);
    });

    it('are empty for an unknown session', async () => {
      expect(await insightsOf(store, sampleSession())).to.deep.equal([]);
    });
  });
}

function beats({ store, other }: Handles): void {
  const batchesOf = ({ id }: Session, from?: number) => collected(other.sessionBeats(id, from));

  describe('the beats of a session', () => {
    it('are stored exactly, and read completely, in order of time, in batches', async () => {
      const [session, another] = [await opened(store), await opened(store)];
      const at = newMoment() + 0.5;
      const blocks = Array.from({ length: 203 }, (_, i) => sampleBlock(at + 10_000 * i));
      await store.commit([partOf(session, [], null, blocks.slice(100)), partOf(another, [], null, [sampleBlock(at)])]);
      await store.commit([partOf(session, [], null, blocks.slice(0, 100))]);
      const found = await batchesOf(session);
      expect(found.flat()).to.deep.equal(blocks.flatMap((block) => block.beats));
      expect(found.length).to.be.greaterThan(1);
      expect((await batchesOf(session, at + 2_015_000)).flat()).to.deep.equal(
        blocks.slice(201).flatMap((block) => block.beats),
      );
    });

    it('at both ends of a block and of the qualities are stored as they are', async () => {
      const session = await opened(store);
      const at = newMoment();
      const block: Beat[] = [
        { t: at + 0.1, source: 'ppg', quality: 0 },
        { t: at + 10_000, source: 'ecg', quality: 1 },
      ];
      await store.commit([partOf(session, [], null, [{ start: at, ts: at, beats: block }])]);
      expect(await batchesOf(session)).to.deep.equal([block]);
    });

    it('are not stored again with a block that begins where another one of the session does', async () => {
      const session = await opened(store);
      const at = newMoment();
      const [first, second] = [sampleBlock(at), sampleBlock(at + 10_000)];
      const again = { ...first, beats: first.beats.slice(1) };
      const insight = sampleInsight(session, at);
      await store.commit([partOf(session, [insight], null, [first])]);
      const results = await Promise.all(
        [store, other].map((handle) => handle.commit([partOf(session, [insight], null, [again, second, second])])),
      );
      expect(results.flat()).to.deep.equal([1, 2].map(() => ({ lost: false, written: [] })));
      expect(await batchesOf(session)).to.deep.equal([[...first.beats, ...second.beats]]);
    });

    it('are dropped with the insights if the session has another owner', async () => {
      const session = await opened(store);
      const at = newMoment();
      await other.claimSession(session.id, 1, randomUUID());
      expect(await store.commit([partOf(session, [], null, [sampleBlock(at)])])).to.deep.equal([{ lost: true }]);
      expect(await batchesOf(session)).to.deep.equal([]);
    });

    it('are none for an unknown session', async () => {
      expect(await batchesOf(sampleSession())).to.deep.equal([]);
    });

    it('keep the row of a session that ends without insights', async () => {
      const session = await opened(store);
      await store.commit([partOf(session, [], null, [sampleBlock(newMoment())])]);
      expect(await store.closeSession(session.id, 1, null)).to.equal(true);
      expect(await other.session(session.id)).to.include({ status: 'closed' });
    });
  });
}

function lists({ store }: Handles): void {
  const SESSIONS = 6;
  const MOMENTS = 5;

  describe('lists of insights', () => {
    const accountId = randomUUID();
    let at: number;
    /** Users of the sessions, to tell the insights apart. */
    const users = new Map<string, string | null>();
    let all: StoredInsight[];

    const query = (fields: Partial<InsightQuery>): InsightQuery => ({
      accountId,
      user: null,
      type: null,
      since: null,
      until: null,
      limit: 100,
      cursor: null,
      ...fields,
    });

    before(async () => {
      at = newMoment();
      all = [];
      for (let i = 0; i < SESSIONS; i++) {
        const session = await opened(store, { accountId, user: i % 2 ? 'ann' : null });
        users.set(session.id, session.user);
        for (let k = 0; k < MOMENTS; k++)
          for (const type of ['hr', 'rr'] as const) all.push(sampleInsight(session, at + k, at + k, { type }));
        await store.commit([partOf(session, all.slice(-2 * MOMENTS))]);
      }
      const stranger = await opened(store, { user: 'ann' });
      await store.commit([partOf(stranger, [sampleInsight(stranger, at, at)])]);
    });

    const between = (from: number, to: number) => all.filter(({ ts }) => ts >= at + from && ts < at + to);
    const moments = (rows: StoredInsight[]) => rows.map(({ ts }) => ts);
    const sorted = (rows: StoredInsight[]) => moments(rows).sort((a, b) => a - b);

    it('begin at `since` and end before `until`, by publication time', async () => {
      const { rows, next } = await store.insights(query({ since: at + 1, until: at + 3 }));
      expect(rows).to.have.deep.members(between(1, 3));
      expect(moments(rows)).to.deep.equal(sorted(rows));
      expect(next).to.equal(null);
    });

    it('are the first ones if `since` is given, and the pages ascend', async () => {
      const whole = (await store.insights(query({ since: at }))).rows;
      const pages = await allPages((cursor) => store.insights(query({ since: at, limit: 7, cursor })));
      expect(pages.map((page) => page.length)).to.deep.equal([7, 7, 7, 7, 7, 7, 7, 7, 4]);
      expect(pages.flat()).to.deep.equal(whole);
      expect(whole).to.have.deep.members(all);
    });

    it('are the last ones if it is not, and the pages descend', async () => {
      const whole = (await store.insights(query({ since: at }))).rows;
      const pages = await allPages((cursor) => store.insights(query({ limit: 7, cursor })));
      expect(pages.map((page) => page.length)).to.deep.equal([7, 7, 7, 7, 7, 7, 7, 7, 4]);
      expect(pages.reverse().flat()).to.deep.equal(whole);
    });

    it('can end with a full page', async () => {
      for (const since of [at, null]) {
        const pages = await allPages((cursor) => store.insights(query({ since, limit: 20, cursor })));
        expect(pages.map((page) => page.length)).to.deep.equal([20, 20, 20]);
      }
    });

    it('can show one user and one type, page by page', async () => {
      for (const user of ['ann', null])
        for (const type of ['hr', 'rr', null] as const)
          for (const since of [at + 1, null]) {
            const wanted = between(since === null ? 0 : 1, 4).filter(
              (i) => (!user || users.get(i.session_id) === user) && (!type || i.type === type),
            );
            const filter = { user, type, since, until: at + 4, limit: 5 };
            const pages = await allPages((cursor) => store.insights(query({ ...filter, cursor })));
            expect(pages.flat()).to.have.deep.members(wanted);
            expect(pages.flat()).to.have.length(wanted.length);
          }
    });

    it('can show one device, over its sessions, page by page', async () => {
      const [scope, from] = [{ accountId: randomUUID(), deviceId: 'band' }, newMoment()];
      const wanted: StoredInsight[] = [];
      for (const [i, deviceId] of ['band', 'ring', 'band'].entries()) {
        const session = await opened(store, { accountId: scope.accountId, deviceId, user: i === 0 ? 'ann' : null });
        const made = [0, 1, 2].map((k) => sampleInsight(session, from + 10 * i + k, from + 10 * i + k));
        await store.commit([partOf(session, made)]);
        await store.closeSession(session.id, 1, from);
        if (deviceId === 'band') wanted.push(...made);
      }
      for (const since of [from, null]) {
        const pages = await allPages((cursor) => store.insights(query({ ...scope, since, limit: 4, cursor })));
        expect((since === null ? pages.reverse() : pages).flat()).to.deep.equal(wanted);
      }
      expect((await store.insights(query({ ...scope, user: 'ann' }))).rows).to.deep.equal(wanted.slice(0, 3));
      expect((await store.insights(query({ ...scope, type: 'rr' }))).rows).to.deep.equal([]);
    });

    it('are found and ordered by data time, whenever they were published, page by page', async () => {
      const [accountId, from, yesterday] = [randomUUID(), newMoment(), newMoment() - 86_400_000];
      const made: StoredInsight[] = [];
      for (const [i, user] of ['ann', null, 'ann'].entries()) {
        const session = await opened(store, { accountId, user, deviceId: i === 1 ? 'ring' : 'band' });
        // The later session was sent later, and its data are older.
        const own = [0, 1, 2, 3].map((k) => sampleInsight(session, yesterday - 10.5 * i + k, from + 10 * i + k));
        await store.commit([partOf(session, own)]);
        await store.closeSession(session.id, 1, from);
        made.push(...own);
      }
      const inOrder = (rows: StoredInsight[]) => rows.toSorted((a, b) => a.actual_end - b.actual_end || a.ts - b.ts);
      const ends = inOrder(made).map(({ actual_end }) => actual_end);
      const bounds = { dataSince: ends[1] ?? 0, dataUntil: ends.at(-1) ?? 0 };
      const sieves: [Partial<InsightQuery>, (insight: StoredInsight) => boolean][] = [
        [{}, () => true],
        [{ user: 'ann' }, ({ device_id }) => device_id === 'band'],
        [{ deviceId: 'ring' }, ({ device_id }) => device_id === 'ring'],
        [{ deviceId: 'band', user: 'ann' }, ({ device_id }) => device_id === 'band'],
        [{ type: 'rr' }, () => false],
        [{ since: from + 10, until: from + 23 }, ({ ts }) => ts >= from + 10 && ts < from + 23],
      ];
      for (const [fields, fits] of sieves)
        for (const sides of [bounds, { dataUntil: bounds.dataUntil }, { dataSince: bounds.dataSince }]) {
          const wanted = inOrder(made).filter(
            (insight) =>
              fits(insight) &&
              insight.actual_end >= (sides.dataSince ?? 0) &&
              insight.actual_end < (sides.dataUntil ?? Number.POSITIVE_INFINITY),
          );
          const scope = { accountId, since: null, ...fields, ...sides, limit: 3 };
          const pages = await allPages((cursor) => store.insights(query({ ...scope, cursor })));
          expect((sides.dataSince === undefined ? pages.reverse() : pages).flat()).to.deep.equal(wanted);
        }
    });

    it('refuse a cursor of the other order', async () => {
      const first = await store.insights(query({ since: at, limit: 1 }));
      expect(await rejection(store.insights(query({ dataSince: 0, cursor: first.next })))).to.be.instanceOf(BadCursor);
    });

    it('include insights published since the last page', async () => {
      const session = await opened(store);
      const scope = { accountId: session.accountId, since: at };
      const insights = [0, 1, 2].map((i) => sampleInsight(session, at + i, at + i));
      await store.commit([partOf(session, insights.slice(0, 2))]);
      const first = await store.insights(query({ ...scope, limit: 1 }));
      await store.commit([partOf(session, insights.slice(2))]);
      const rest = await store.insights(query({ ...scope, cursor: first.next }));
      expect([...first.rows, ...rest.rows]).to.deep.equal(insights);
    });

    it('are empty for another account or user', async () => {
      expect(await store.insights(query({ accountId: 'x' }))).to.deep.equal({ rows: [], next: null });
      expect(await store.insights(query({ user: 'bob' }))).to.deep.equal({ rows: [], next: null });
    });

    it('refuse a foreign cursor', async () => {
      const foreign = Buffer.from(JSON.stringify(['sessions', 1, 'x'])).toString('base64url');
      const wrong = Buffer.from(JSON.stringify(['insights', 1, 'x'])).toString('base64url');
      for (const cursor of ['', '{}', 'bnVsbA', foreign, wrong])
        for (const since of [at, null])
          expect(await rejection(store.insights(query({ cursor, since })))).to.be.instanceOf(BadCursor);
    });
  });
}
