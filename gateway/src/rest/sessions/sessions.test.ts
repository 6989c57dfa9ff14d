import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { insight } from '@device-insights/contract/insight';
import { expect } from 'chai';
import { z } from 'zod';
import type { StoredInsight } from '../../insight.js';
import type { Session } from '../../store/store.js';
import { StoreUnavailable } from '../../store/store.js';
import { partOf, sampleBlock } from '../../store/suite/samples.js';
import { detailOf, insightRow, seed, sessionRow, type Tenant, TestServer } from '../rest-server.fixture.js';
import { beat, session } from './schema.js';

const SessionShape = z.strictObject(session.shape);
const T0 = Date.parse('2026-03-01T10:00:00.000Z');

describe('sessions', () => {
  let server: TestServer;
  let tenant: Tenant;

  before(async () => {
    server = await TestServer.start();
  });
  beforeEach(async () => {
    tenant = await server.tenant();
  });
  after(() => server.stop());

  const request = (path: string, key = tenant.key) => server.request('GET', path, key);
  const list = async (query = '', key = tenant.key) =>
    z.array(SessionShape).parse((await request(`/v1/sessions${query}`, key)).json);
  const closeAt = (row: Session, at: number) => server.store.closeSession(row.id, row.epoch, at);

  describe('GET /v1/sessions', () => {
    it('gives the fields of the specification, times with milliseconds, ended_at only when closed', async () => {
      const [open, closed] = [sessionRow(tenant.accountId, T0 + 1), sessionRow(tenant.accountId, T0)];
      await seed(server.store, open);
      await seed(server.store, closed);
      await closeAt(closed, T0 + 61_005);
      expect(await list()).to.deep.equal([
        {
          id: open.id,
          device_id: open.deviceId,
          device_model_id: open.deviceModelId,
          status: 'open',
          started_at: '2026-03-01T10:00:00.001Z',
        },
        {
          id: closed.id,
          device_id: closed.deviceId,
          device_model_id: closed.deviceModelId,
          status: 'closed',
          started_at: '2026-03-01T10:00:00.000Z',
          ended_at: '2026-03-01T10:01:01.005Z',
        },
      ]);
    });

    it('gives the diagnostics of one session, and none in lists', async () => {
      const row = sessionRow(tenant.accountId, T0);
      await seed(server.store, row);
      const notice = { code: 'no_reading', channel: null, insight: 'hr', reason: 'hum', detail: 'd', isOver: false };
      const diagnostics = {
        notices: [{ ...notice, firstAt: T0, lastAt: T0 + 1, count: 2 }],
        refused: [{ code: 'bad_json', count: 3, detail: 't' }],
        channels: [{ index: 0, declaredHz: 50, measuredHz: null }],
      };
      const { id: sessionId, gateway, epoch } = row;
      await server.store.putDiagnostics({ sessionId, gateway, epoch, diagnostics, problem: null });
      const [first_at, last_at] = ['2026-03-01T10:00:00.000Z', '2026-03-01T10:00:00.001Z'];
      const { diagnostics: given } = SessionShape.parse((await request(`/v1/sessions/${row.id}`)).json);
      expect(given).to.deep.equal({
        notices: [
          { code: 'no_reading', insight: 'hr', reason: 'hum', detail: 'd', count: 2, over: false, first_at, last_at },
        ],
        refused: diagnostics.refused,
        channels: [{ index: 0, declared_hz: 50, measured_hz: null }],
        no_reading: [{ insight: 'hr', reason: 'hum' }],
      });
      expect((await list())[0]).not.to.have.property('diagnostics');
    });

    it('gives the span of the data, and finds sessions by it, whenever they were sent', async () => {
      const progress = { firstInstant: T0 - 86_400_000, lastInstant: T0 - 86_340_000.5 };
      const row = sessionRow(tenant.accountId, T0);
      const yesterday = { ...row, progress: { ...row.progress, ...progress } };
      for (const session of [yesterday, sessionRow(tenant.accountId, T0)]) await seed(server.store, session);
      const found = await list('?data_since=2026-02-28T00:00Z&data_until=2026-03-01T00:00Z');
      expect(found.map(({ id, data_start, data_end }) => ({ id, data_start, data_end }))).to.deep.equal([
        { id: row.id, data_start: '2026-02-28T10:00:00.000Z', data_end: '2026-02-28T10:00:59.999Z' },
      ]);
      expect(await list('?data_since=2026-03-01T00:00Z')).to.deep.equal([]);
    });

    it('gives 50 by default, and up to 200, newest first', async () => {
      const rows = Array.from({ length: 205 }, (_, i) => sessionRow(tenant.accountId, T0 + i * 1000));
      for (const row of rows) await seed(server.store, row);
      const newest = rows.map(({ id }) => id).reverse();
      expect((await list()).map(({ id }) => id)).to.deep.equal(newest.slice(0, 50));
      expect((await list('?limit=200')).map(({ id }) => id)).to.deep.equal(newest.slice(0, 200));
      expect((await list('?limit=1')).map(({ id }) => id)).to.deep.equal(newest.slice(0, 1));
    });

    it('filters by device and status, and keeps the filter over pages', async () => {
      const rows = [0, 1, 2, 3].map((i) => ({
        ...sessionRow(tenant.accountId, T0 - i),
        deviceId: i === 1 ? 'ring' : 'band',
      }));
      for (const row of rows) {
        await seed(server.store, row);
        await closeAt(row, T0);
      }
      const bands = rows.filter(({ deviceId }) => deviceId === 'band').map(({ id }) => id);
      expect((await list('?device_id=band')).map(({ id }) => id)).to.deep.equal(bands);
      expect(await list('?device_id=band&status=open')).to.deep.equal([]);
      expect(await list('?device_id=nobody%27s')).to.deep.equal([]);
      const { headers } = await request('/v1/sessions?device_id=band&limit=2');
      expect(headers.get('link')).to.match(/^<\/v1\/sessions\?limit=2&device_id=band&cursor=[^>]+>; rel="next"$/);
      for (const bad of ['device_id=', `device_id=${'x'.repeat(129)}`, 'device_id=a&device_id=b'])
        expect((await request(`/v1/sessions?${bad}`)).status, bad).to.equal(400);
    });

    it('links to all pages by rel="next" with the same filters, and has no Link on the last page', async () => {
      const rows = Array.from({ length: 7 }, (_, i) => sessionRow(tenant.accountId, T0 - (i >> 1)));
      for (const row of rows) await seed(server.store, row);
      for (const row of rows) await closeAt(row, T0);
      await seed(server.store, sessionRow(tenant.accountId, T0));
      const ids: string[] = [];
      let path: string | undefined = '/v1/sessions?status=closed&x=1&limit=3';
      for (let pages = 0; path !== undefined; pages++) {
        expect(pages).to.be.lessThan(3);
        const answer = await request(path);
        ids.push(
          ...z
            .array(SessionShape)
            .parse(answer.json)
            .map(({ id }) => id),
        );
        const link = /^<(\/v1\/sessions\?[^>]+)>; rel="next"$/.exec(answer.headers.get('link') ?? '');
        path = link?.[1];
        expect(answer.headers.has('link')).to.equal(ids.length < 7);
        if (path)
          expect([...new URLSearchParams(path.split('?')[1]).keys()]).to.deep.equal(['limit', 'status', 'cursor']);
      }
      expect([...ids].sort()).to.deep.equal(rows.map(({ id }) => id).sort());
    });

    it('gives a last page that is exactly full no Link', async () => {
      for (let i = 0; i < 2; i++) await seed(server.store, sessionRow(tenant.accountId, T0 + i));
      expect((await request('/v1/sessions?limit=2')).headers.get('link')).to.equal(null);
    });

    it('refuses bad parameters, naming each', async () => {
      const bad: [query: string, detail: string | RegExp][] = [
        ['limit=0', 'limit: must be an integer from 1 to 200'],
        ['limit=201', 'limit: must be an integer from 1 to 200'],
        ...['-1', '1.5', '1e2', 'x', '%20', '0x10', '９', '9'.repeat(400)].map((limit): [string, RegExp] => [
          `limit=${limit}`,
          /^limit: must be an integer/,
        ]),
        ['status=Open', 'status: must be one of open, closed'],
        ['status=all', 'status: must be one of open, closed'],
        ['limit=', 'limit: must not be empty'],
        ['status', 'status: must not be empty'],
        ['limit=5&limit=5', 'limit: must be given only once'],
        ['cursor=x', /^cursor: must be taken/],
        ['cursor=', 'cursor: must not be empty'],
        [`cursor=${Buffer.from('["insights",1,"1"]').toString('base64url')}`, /^cursor: must be taken/],
        ['status=&limit=x&limit=y', 'limit: must be given only once; status: must not be empty'],
        ['status=x&limit=0', 'limit: must be an integer from 1 to 200; status: must be one of open, closed'],
      ];
      for (const [query, detail] of bad) {
        const answer = await request(`/v1/sessions?${query}`);
        expect(answer.status, query).to.equal(400);
        if (typeof detail === 'string') expect(detailOf(answer)).to.equal(detail);
        else expect(detailOf(answer)).to.match(detail);
      }
    });

    it('ignores unknown parameters', async () => {
      expect((await request('/v1/sessions?foo=1&foo=2&since=x&__proto__=1&constructor=')).status).to.equal(200);
    });

    it('shows a per-user key only the sessions of its user, and no key those of another account', async () => {
      const mine = sessionRow(tenant.accountId, T0, 'ann');
      await seed(server.store, mine);
      await seed(server.store, sessionRow(tenant.accountId, T0, 'bob'));
      await seed(server.store, sessionRow(tenant.accountId, T0));
      expect((await list('', tenant.userKey)).map(({ id }) => id)).to.deep.equal([mine.id]);
      expect(await list()).to.have.length(3);
      const other = await server.tenant();
      expect(await list('', other.key)).to.deep.equal([]);
      expect(await list('', other.userKey)).to.deep.equal([]);
    });
  });

  describe('GET /v1/sessions/{id}, and its insights and beats', () => {
    it('breaks off an answer that is being sent when its key is revoked', async () => {
      const row = sessionRow(tenant.accountId, T0);
      const count = 60_000;
      await seed(
        server.store,
        row,
        Array.from({ length: count }, (_, i) => insightRow(row, T0 + i)),
      );
      const headers = { authorization: `Bearer ${tenant.key}` };
      const call = get(`${server.url}/v1/sessions/${row.id}/insights`, { headers });
      const [answer] = (await once(call, 'response')) as [IncomingMessage];
      await once(answer, 'readable');
      const { id } = (await server.store.keys(tenant.accountId)).find(({ user }) => user === null) ?? { id: '' };
      await server.store.revokeKey(id, Date.now());
      let bytes = 0;
      answer.on('data', (data: Buffer) => (bytes += data.length));
      const [error] = await once(answer, 'error');
      expect(error).to.include({ code: 'ECONNRESET' });
      expect(bytes).to.be.lessThan(count * 150);
    });

    it('gives one session', async () => {
      const row = sessionRow(tenant.accountId, T0);
      await seed(server.store, row);
      const { status, json } = await request(`/v1/sessions/${row.id.toUpperCase()}`);
      expect(status).to.equal(200);
      expect(json).to.deep.equal((await list())[0]);
    });

    it('answers 404 to a malformed or unknown id, and 403 to a session of another account', async () => {
      const [shared, anns, bobs] = [null, 'ann', 'bob'].map((user) => sessionRow(tenant.accountId, T0, user));
      const stranger = await server.tenant();
      for (const row of [shared, anns, bobs]) if (row) await seed(server.store, row);
      const expected: [id: string | undefined, key: string, status: number][] = [
        ['x', tenant.key, 404],
        ['11111111-2222-4333-8444-555555555555', tenant.key, 404],
        [shared?.id, stranger.key, 403],
        [anns?.id, stranger.userKey, 403],
        [bobs?.id, tenant.userKey, 403],
        [shared?.id, tenant.userKey, 403],
        [anns?.id, tenant.userKey, 200],
        [bobs?.id, tenant.key, 200],
      ];
      for (const rest of ['', '/insights', '/beats']) {
        for (const [id, key, status] of expected) {
          const answer = await request(`/v1/sessions/${id}${rest}`, key);
          expect(answer.status, `${id}${rest}`).to.equal(status);
          if (status !== 200) detailOf(answer);
        }
      }
    });

    it('gives all insights of the session in their stored form, by actual_end, then ts', async () => {
      const [row, other] = [sessionRow(tenant.accountId, T0), sessionRow(tenant.accountId, T0)];
      const end = T0 + 8000;
      const insights = [
        insightRow(row, T0 + 9002, end, 'hr'),
        insightRow(row, T0 + 9003, end + 1000, 'hr'),
        insightRow(row, T0 + 9001, end, 'spo2'),
        insightRow(row, T0 + 9000, end + 2000, 'rr'),
      ];
      await seed(server.store, row, insights);
      await seed(server.store, other, [insightRow(other, T0 + 9000, end)]);
      const { json, headers } = await request(`/v1/sessions/${row.id}/insights`);
      expect(headers.get('content-type')).to.equal('application/json; charset=utf-8');
      expect(json).to.deep.equal([insights[2], insights[0], insights[1], insights[3]]);
      z.array(z.strictObject(insight.shape)).parse(json);
    });

    it('gives thousands, without a limit', async () => {
      const row = sessionRow(tenant.accountId, T0);
      const insights = Array.from({ length: 2501 }, (_, i) => insightRow(row, T0 + i * 1000));
      await seed(server.store, row, insights);
      expect((await request(`/v1/sessions/${row.id}/insights?limit=3`)).json).to.deep.equal(insights);
    });

    it('gives all beats of the session in order of time, as JSON or CSV', async () => {
      const [row, other] = [sessionRow(tenant.accountId, T0), sessionRow(tenant.accountId, T0)];
      const blocks = Array.from({ length: 203 }, (_, i) => sampleBlock(T0 + 10_000 * i));
      for (const [session, beats] of [
        [row, blocks],
        [other, [sampleBlock(T0)]],
      ] as const) {
        await seed(server.store, session);
        await server.store.commit([partOf(session, [], null, [...beats])]);
      }
      const beats = blocks.flatMap((block) => block.beats);
      const path = `/v1/sessions/${row.id}/beats`;
      const { json, headers } = await request(`${path}?limit=3`);
      expect(headers.get('content-type')).to.equal('application/json; charset=utf-8');
      expect(headers.get('vary')).to.contain('Accept');
      expect(z.array(z.strictObject(beat.shape)).parse(json)).to.deep.equal(beats);
      const csv = await server.request('GET', path, tenant.key, undefined, { accept: 'text/csv' });
      expect(csv.headers.get('content-type')).to.equal('text/csv; charset=utf-8');
      expect(csv.text.split('\r\n').slice(0, 3)).to.deep.equal([
        't,source,quality',
        `${T0 + 500.3},ecg,0.997`,
        `${T0 + 723.6},ppg,0`,
      ]);
      expect(csv.text.trimEnd().split('\r\n')).to.have.length(beats.length + 1);
    });

    it('gives an empty array if there are none, or the header of a CSV', async () => {
      const row = sessionRow(tenant.accountId, T0);
      await seed(server.store, row);
      expect((await request(`/v1/sessions/${row.id}/insights`)).text).to.equal('[]');
      const path = `/v1/sessions/${row.id}/beats`;
      expect((await request(path)).text).to.equal('[]');
      const csv = await server.request('GET', path, tenant.key, undefined, { accept: 'text/csv' });
      expect(csv.text).to.equal('t,source,quality\r\n');
    });

    it('answers HEAD without a body, and without running the query to its end', async () => {
      await using streaming = await streamingServer(100);
      const head = await streaming.server.request('HEAD', streaming.path, streaming.key);
      expect([head.status, head.text]).to.deep.equal([200, '']);
      await streaming.left;
    });

    it('reads from the store only as fast as the client reads, and stops when it disconnects', async () => {
      await using streaming = await streamingServer(100_000);
      const url = streaming.server.url + streaming.path;
      const request = get(url, { headers: { authorization: `Bearer ${streaming.key}` } });
      const [response] = (await once(request, 'response')) as [IncomingMessage];
      response.pause();
      await streaming.stalled();
      expect(streaming.batches()).to.be.lessThan(1000);
      request.destroy();
      await streaming.left;
      expect(streaming.server.logged).to.deep.equal([]);
    });

    it('answers 500 if the store fails at once, and closes the connection if it fails later', async () => {
      for (const batchesBefore of [0, 3]) {
        await using failing = await streamingServer(batchesBefore, new StoreUnavailable('gone'));
        const headers = { authorization: `Bearer ${failing.key}` };
        // Whether the beginning still arrives is up to Node.
        const end = await fetch(failing.server.url + failing.path, { headers })
          .then(async (response) => (await response.text()) && response.status)
          .catch(() => 'broken');
        expect(end).to.equal(batchesBefore === 0 ? 500 : 'broken');
        expect(failing.server.logged.map(({ fields }) => String(fields.err)).join()).to.contain('gone');
      }
    });
  });
});

/** A server whose store has this many batches of insights of a session, then ends or fails. */
async function streamingServer(count: number, failure?: Error) {
  let batches = 0;
  let leave = () => {};
  const left = new Promise<void>((resolve) => {
    leave = resolve;
  });
  async function* sessionInsights(): AsyncGenerator<StoredInsight[]> {
    const row = sessionRow('account', T0);
    try {
      for (; batches < count; batches++) yield Array.from({ length: 100 }, (_, i) => insightRow(row, T0 + i));
      if (failure) throw failure;
    } finally {
      leave();
    }
  }
  const server = await TestServer.start((store) => ({ store: { ...store, sessionInsights } }));
  const { accountId, key } = await server.tenant();
  const row = sessionRow(accountId, T0);
  await seed(server.store, row);
  /** Resolves when nothing more is read although the event loop went round many times. */
  async function stalled(): Promise<void> {
    for (let before = -1; before !== batches; ) {
      before = batches;
      for (let turn = 0; turn < 200; turn++) await new Promise((resolve) => setImmediate(resolve));
    }
  }
  const parts = { server, key, path: `/v1/sessions/${row.id}/insights`, left, stalled, batches: () => batches };
  return { ...parts, [Symbol.asyncDispose]: () => server.stop() };
}
