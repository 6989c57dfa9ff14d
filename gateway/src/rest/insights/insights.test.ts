import { setImmediate } from 'node:timers/promises';
import { insight } from '@device-insights/contract/insight';
import { expect } from 'chai';
import { z } from 'zod';
import type { StoredInsight } from '../../insight.js';
import { detailOf, insightRow, seed, sessionRow, type Tenant, TestServer } from '../rest-server.fixture.js';

const Insights = z.array(z.strictObject(insight.shape));
const T0 = Date.parse('2026-03-01T10:00:00.000Z');

describe('insights across sessions', () => {
  let server: TestServer;
  let tenant: Tenant;
  /** All of the account, by ts: 1,200 of two sessions, one a second. */
  let all: StoredInsight[];

  before(async () => {
    server = await TestServer.start();
    tenant = await server.tenant();
    const [one, two] = [sessionRow(tenant.accountId, T0, 'ann'), sessionRow(tenant.accountId, T0, 'bob')];
    const types = ['hr', 'hr', 'spo2', 'rr'] as const;
    all = Array.from({ length: 1200 }, (_, i) => {
      const at = T0 + i * 1000;
      return insightRow(i % 2 ? one : two, at, at - 100, types[i % 4] ?? 'hr');
    });
    for (const row of [one, two]) {
      await seed(
        server.store,
        row,
        all.filter(({ session_id }) => session_id === row.id),
      );
    }
  });
  after(() => server.stop());

  const request = (query: string, key = tenant.key) => server.request('GET', `/v1/insights${query}`, key);
  const rows = async (query = '', key = tenant.key) => Insights.parse((await request(query, key)).json);
  const iso = (i: number) => new Date(T0 + i * 1000).toISOString();

  it('gives the last 100 by default, oldest first, in the stored form', async () => {
    expect(await rows()).to.deep.equal(all.slice(-100));
  });

  it('gives up to 1,000', async () => {
    expect(await rows('?limit=1000')).to.deep.equal(all.slice(-1000));
    expect(await rows('?limit=1')).to.deep.equal(all.slice(-1));
  });

  it('treats since as inclusive and until as exclusive', async () => {
    expect(await rows(`?since=${iso(5)}&until=${iso(8)}`)).to.deep.equal(all.slice(5, 8));
    expect(await rows(`?since=${iso(5)}&until=${iso(5)}`)).to.deep.equal([]);
    expect(await rows('?since=2026-03-01T10:00:00.0001Z&limit=1')).to.deep.equal(all.slice(1, 2));
    expect(await rows('?until=2026-03-01T10:00:00.0001Z')).to.deep.equal(all.slice(0, 1));
  });

  it('gives the first insights from since on, and without since the last before until', async () => {
    expect(await rows(`?since=${iso(10)}&limit=3`)).to.deep.equal(all.slice(10, 13));
    expect(await rows(`?until=${iso(10)}&limit=3`)).to.deep.equal(all.slice(7, 10));
  });

  it('finds and orders insights by data time, with links to the pages that follow', async () => {
    const owner = await server.tenant();
    const made: StoredInsight[] = [];
    for (const i of [0, 1, 2, 3]) {
      const session = sessionRow(owner.accountId, T0);
      // What was measured later was published first.
      made.push(insightRow(session, T0 + 60_000 - i * 1000, T0 - 86_400_000 + i * 1000));
      await seed(server.store, session, made.slice(-1));
    }
    const day = (i: number) => new Date(T0 - 86_400_000 + i * 1000).toISOString();
    expect(await rows(`?data_since=${day(0)}&data_until=${day(3)}`, owner.key)).to.deep.equal(made.slice(0, 3));
    const { json, headers } = await request(`?data_since=${day(1)}&limit=2`, owner.key);
    expect(json).to.deep.equal(made.slice(1, 3));
    const [, next = ''] = /^<\/v1\/insights(.*)>; rel="next"$/.exec(headers.get('link') ?? '') ?? [];
    expect(await rows(next, owner.key)).to.deep.equal(made.slice(3));
    const last = await request(`?data_until=${day(3)}&limit=1`, owner.key);
    expect(last.json).to.deep.equal(made.slice(2, 3));
    expect(last.headers.get('link')).to.match(/rel="prev"$/);
    expect(await rows(`?data_since=${day(0)}&until=${new Date(T0 + 59_000).toISOString()}`, owner.key)).to.deep.equal(
      made.slice(2),
    );
    const refused = await request(`?data_since=${day(1)}&data_until=${day(0)}`, owner.key);
    expect(refused).to.deep.include({ status: 400 });
    expect(JSON.stringify(refused.json)).to.include('data_since: must not be after data_until');
  });

  it('reads RFC 3339 times with any offset, with or without seconds', async () => {
    for (const since of ['2026-03-01T10:01Z', '2026-03-01T11:01:00%2B01:00', '2026-03-01t10:01:00.000z']) {
      expect(await rows(`?since=${since}&limit=1`), since).to.deep.equal(all.slice(60, 61));
    }
    expect(await rows('?since=2026-03-01T11:01+01:00&limit=1')).to.deep.equal(all.slice(60, 61));
  });

  it('filters by device', async () => {
    const device = all[1]?.device_id;
    const wanted = all.filter(({ device_id }) => device_id === device);
    expect(await rows(`?device_id=${device}&limit=1000`)).to.deep.equal(wanted);
    expect(await walk(`/v1/insights?device_id=${device}&since=${iso(0)}&limit=250`, 'next')).to.deep.equal(wanted);
    const of = (user: string) => rows(`?device_id=${device}`, user);
    expect((await of(tenant.userKey)).length + (await of((await server.tenant()).key)).length).to.equal(100);
  });

  it('links to later pages by rel="next" with since, and keeps the filters', async () => {
    const found = await walk(`/v1/insights?since=${iso(1000)}&type=hr&limit=30&x=y`, 'next');
    expect(found).to.deep.equal(all.slice(1000).filter(({ type }) => type === 'hr'));
  });

  it('links to earlier pages by rel="prev" without since', async () => {
    const found = await walk(`/v1/insights?until=${iso(250)}&limit=100`, 'prev');
    expect(found).to.deep.equal(all.slice(0, 250));
  });

  it('shows a per-user key only the insights of its user, and no key those of another account', async () => {
    const anns = all.filter((_, i) => i % 2);
    expect(await rows('', tenant.userKey)).to.deep.equal(anns.slice(-100));
    expect(await walk(`/v1/insights?since=${iso(0)}&limit=1000`, 'next', tenant.userKey)).to.deep.equal(anns);
    const other = await server.tenant();
    for (const key of [other.key, other.userKey]) expect(await rows('', key)).to.deep.equal([]);
  });

  it('refuses bad parameters, naming each', async () => {
    const bad: [query: string, detail: RegExp][] = [
      ['limit=0', /^limit: must be an integer from 1 to 1000$/],
      ['limit=1001', /^limit: must be an integer from 1 to 1000$/],
      ['type=HR', /^type: must be one of hr, spo2, rr, hrv, rhythm$/],
      ['type=bp', /^type: must be one of/],
      ['type=hr&type=hr', /^type: must be given only once$/],
      ['type=', /^type: must not be empty$/],
      ['since=', /^since: must not be empty$/],
      ['since=x&until=y', /^since: must be an RFC 3339 time.*; until: must be an RFC 3339 time/],
      ['since=1763600000000', /^since: must be an RFC 3339 time/],
      [`since=${iso(2)}&until=${iso(1)}`, /^since: must not be after until$/],
      ['cursor=bm9uc2Vuc2U', /^cursor: must be taken/],
      [`cursor=${Buffer.from('["sessions",1,"1"]').toString('base64url')}`, /^cursor: must be taken/],
    ];
    for (const [query, detail] of bad) {
      const answer = await request(`?${query}`);
      expect(answer.status, query).to.equal(400);
      expect(detailOf(answer)).to.match(detail);
    }
  });

  /** Follows the Link headers to the end and gives all rows in order of time. */
  async function walk(start: string, rel: 'next' | 'prev', key = tenant.key): Promise<StoredInsight[]> {
    let found: StoredInsight[] = [];
    for (let path: string | undefined = start; path !== undefined; ) {
      const answer = await server.request('GET', path, key);
      const page = Insights.parse(answer.json) as StoredInsight[];
      expect(page.length).to.be.greaterThan(0);
      found = rel === 'next' ? [...found, ...page] : [...page, ...found];
      const link = answer.headers.get('link');
      path = /^<(\/v1\/insights\?[^>]+)>; rel="(next|prev)"$/.exec(link ?? '')?.[1];
      if (link !== null) expect(link).to.contain(`; rel="${rel}"`);
    }
    return found;
  }

  it('lets four searches of an account run at once, and keeps no other account waiting for them', async () => {
    const running = new Map<string, (() => void)[]>();
    await using own = await TestServer.start((store) => ({
      store: {
        ...store,
        async insights(query) {
          await new Promise<void>((end) =>
            running.set(query.accountId, [...(running.get(query.accountId) ?? []), end]),
          );
          return { rows: [], next: null };
        },
      },
    }));
    const [busy, other] = [await own.tenant(), await own.tenant()];
    const search = ({ key }: Tenant) => own.request('GET', '/v1/insights?type=rr', key);
    const runningOf = ({ accountId }: Tenant) => running.get(accountId)?.length ?? 0;
    const all = Array.from({ length: 10 }, () => search(busy));
    while (runningOf(busy) < 4) await setImmediate();
    const others = search(other);
    while (runningOf(other) < 1) await setImmediate();
    running.get(other.accountId)?.[0]?.();
    expect((await others).status).to.equal(200);
    expect(runningOf(busy)).to.equal(4);
    for (let ended = 0; ended < 10; ended++) {
      while (runningOf(busy) <= ended) await setImmediate();
      running.get(busy.accountId)?.[ended]?.();
    }
    expect(new Set((await Promise.all(all)).map(({ status }) => status))).to.deep.equal(new Set([200]));
  });
});
