import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import { hashKey } from '@device-insights/fanout/api-key';
import { expect } from 'chai';
import { removeOperator, resetOperator } from '../admin/operators.js';
import type { SummaryRow } from '../rest/sessions/schema.js';
import {
  addedModel,
  NO_PROGRESS,
  newMoment,
  opened,
  partOf,
  sampleDevice,
  sampleInsight,
  sampleSession,
} from '../store/suite/samples.js';
import { TestDashboard } from './dashboard-server.fixture.js';
import type { Node } from './node.js';
import type {
  AccountRow,
  AlgorithmRow,
  AuditRow,
  DeviceRow,
  DeviceView,
  KeyRow,
  Listed,
  LiveKey,
  NewKey,
  Series,
  SessionRow,
  StreamingRow,
} from './rows.js';

describe('the interface of the dashboard', () => {
  let dashboard: TestDashboard;
  let cookie: string;
  let account: string;

  before(async () => {
    dashboard = await TestDashboard.start();
    await dashboard.operator('ann');
    cookie = await dashboard.cookie('ann');
    account = (await call<AccountRow>('POST', '/accounts', { name: 'clinic' })).json.id;
  });
  after(() => dashboard.stop());

  const call = <Body = { detail: string }>(method: string, path: string, body?: unknown) =>
    dashboard.call<Body>(method, `/dashboard/api${path}`, { cookie, body });

  it('creates accounts and entitles them', async () => {
    const made = await call<AccountRow>('POST', '/accounts', { name: 'ward' });
    expect(made.json).to.deep.include({ name: 'ward', algorithms: null });
    const path = `/accounts/${made.json.id}/algorithms`;
    expect((await call<AccountRow>('PUT', path, { algorithms: ['hr-ppg'] })).json.algorithms).to.deep.equal(['hr-ppg']);
    expect((await call<AccountRow>('PUT', path, { algorithms: null })).json.algorithms).to.equal(null);
    expect((await call('PUT', path, { algorithms: ['nope'] })).status).to.equal(409);
    expect((await call('PUT', path, { algorithms: 1 })).json.detail).to.contain('algorithms: must be null or a list');
    expect((await call('POST', '/accounts', { name: 'ward' })).json.detail).to.contain(
      'already an account named "ward"',
    );
    expect((await call<AccountRow[]>('GET', '/accounts')).json.map(({ name }) => name)).to.have.members([
      'clinic',
      'ward',
    ]);
    expect((await call<AlgorithmRow[]>('GET', '/algorithms')).json[0]).to.have.keys(
      'slug',
      'name',
      'version',
      'type',
      'description',
    );
  });

  it('issues keys, which it shows once, and lists, rotates and revokes them', async () => {
    const made = (await call<NewKey>('POST', `/accounts/${account}/keys`, { user: 'zoë', expires: '30d' })).json;
    expect(made).to.include({ user: 'zoë', expires_at: '2026-03-31T10:00:00.000Z' });
    expect(await dashboard.store.keyByHash(hashKey(made.key))).to.include({ id: made.id, subscribeOnly: false });
    const rotated = (await call<NewKey>('POST', `/keys/${made.id}/rotate`, { overlap: '24h' })).json;
    expect(rotated.user).to.equal('zoë');
    const revoked = (await call<KeyRow>('POST', `/keys/${rotated.id}/revoke`)).json;
    expect(revoked.revoked_at).to.equal('2026-03-01T10:00:00.000Z');
    expect((await call('POST', `/keys/${rotated.id}/rotate`, { overlap: '24h' })).status).to.equal(409);
    expect((await call('POST', `/keys/${account}/revoke`)).status).to.equal(404);
    expect((await call('POST', `/accounts/${account}/keys`, { expires: 'soon' })).json.detail).to.contain('30d');
    const { rows } = (await call<Listed<KeyRow>>('GET', `/accounts/${account}/keys`)).json;
    expect(rows).to.have.length(2);
    expect(rows[0]).not.to.have.property('key');
    expect(rows.find(({ id }) => id === made.id)).to.include({
      replaced_by: rotated.id,
      expires_at: '2026-03-02T10:00:00.000Z',
    });
    const users = (await call('GET', `/accounts/${account}/users`)).json;
    expect(users).to.deep.equal({ rows: [{ user: 'zoë', keys: 2, last_used_at: null }], next: null });
  });

  it('issues keys for its own pages that may only subscribe, are never listed and expire', async () => {
    const made = (await call<LiveKey>('POST', `/accounts/${account}/live-key`)).json;
    expect(made.lasts_ms).to.equal(600_000);
    const expiresAt = dashboard.clock.now() + made.lasts_ms;
    const stored = await dashboard.store.keyByHash(hashKey(made.key));
    expect(stored).to.include({ subscribeOnly: true, accountId: account, expiresAt });
    const { text } = await call('GET', `/accounts/${account}/keys`);
    expect(text).not.to.contain(made.key.slice(-4));
    dashboard.clock.advance(600_000 + 3_600_001);
    await call('POST', `/accounts/${account}/live-key`);
    expect(await dashboard.store.keyByHash(hashKey(made.key))).to.equal(null);
  });

  it('gives an operator ten keys for its own pages, and ends them with its login or password', async () => {
    const { store, clock } = dashboard;
    await dashboard.operator('vera', 'viewer');
    const vera = await store.operatorNamed('vera');
    let viewer = await dashboard.cookie('vera');
    const issue = async () => {
      const { json } = await dashboard.call<LiveKey>('POST', `/dashboard/api/accounts/${account}/live-key`, {
        cookie: viewer,
      });
      return json.key;
    };
    const valid = async () => (await store.subscribeKeys(vera?.id ?? '')).map(({ hash }) => hash);
    const first = await issue();
    clock.advance(1);
    const others = await Promise.all(Array.from({ length: 12 }, issue));
    expect(await valid()).to.have.length(10);
    expect((await store.keyByHash(hashKey(first)))?.revokedAt).to.equal(clock.now());
    expect(others.map(hashKey)).to.include.members(await valid());
    await dashboard.call('POST', '/dashboard/api/sign-out', { cookie: viewer });
    expect(await valid()).to.deep.equal([]);
    for (const end of [resetOperator, removeOperator]) {
      await store.setOperatorPassword(vera?.id ?? '', vera?.password ?? '');
      viewer = await dashboard.cookie('vera');
      const key = await issue();
      expect(await valid()).to.deep.equal([hashKey(key)]);
      await end({ store, clock, algorithms: [], actor: 'test' }, 'vera');
      expect((await store.keyByHash(hashKey(key)))?.revokedAt).to.equal(clock.now());
    }
  });

  it('shows devices with their open sessions, and deletes a device', async () => {
    const model = await addedModel(dashboard.store, { accountId: account });
    const device = sampleDevice(model, { deviceId: 'band-1' });
    await dashboard.store.putDevice(device);
    const session = await opened(dashboard.store, { accountId: account, deviceId: 'band-1', deviceModelId: model.id });
    const { rows } = (await call<Listed<DeviceRow>>('GET', `/accounts/${account}/devices?prefix=band`)).json;
    expect(rows[0]).to.deep.include({ device_id: 'band-1' }).and.to.have.nested.property('session.id', session.id);
    const one = (await call<DeviceView>('GET', `/accounts/${account}/devices/band-1`)).json;
    expect(one.model).to.include({ name: 'Ring', has_spo2_calibration: false });
    expect((await call('DELETE', `/accounts/${account}/devices/band-1`)).status).to.equal(204);
    expect((await call('DELETE', `/accounts/${account}/devices/band-1`)).status).to.equal(404);
    expect((await call('GET', `/accounts/${account}/devices/band-1`)).status).to.equal(404);
  });

  it('shows the refused connections of an account', async () => {
    const refused = { code: 4004, reason: 'there is no such device model', address: '203.0.113.9' };
    const at = Date.parse('2026-03-01T10:00:00.000Z');
    for (const _ of [1, 2]) dashboard.refused.add(account, { ...refused, deviceId: 'band', keyPrefix: 'svc_abcd' }, at);
    expect((await call('GET', `/accounts/${account}/refused`)).json).to.deep.equal([
      { ...refused, device_id: 'band', key_prefix: 'svc_abcd', count: 2, at: '2026-03-01T10:00:00.000Z' },
    ]);
  });

  it('reads a page of devices with one query of the store', async () => {
    const model = await addedModel(dashboard.store, { accountId: account });
    for (const deviceId of ['one-1', 'one-2', 'one-3']) {
      await dashboard.store.putDevice(sampleDevice(model, { deviceId }));
      await dashboard.store.openSession(sampleSession({ accountId: account, deviceId }));
    }
    const { store } = dashboard;
    const calls: string[] = [];
    const real = { ...store };
    for (const [name, run] of Object.entries(real))
      if (/^(devicePage|openSessionOf|sessions?|device|diagnostics)$/.test(name))
        Object.assign(store, {
          [name]: (...asked: never[]) => {
            calls.push(name);
            return (run as (...asked: never[]) => unknown)(...asked);
          },
        });
    const { rows } = (await call<Listed<DeviceRow>>('GET', `/accounts/${account}/devices?prefix=one`)).json;
    Object.assign(store, real);
    expect(rows.map(({ session }) => session !== null)).to.deep.equal([true, true, true]);
    expect(calls).to.deep.equal(['devicePage']);
  });

  it('shows the problems that streaming devices have now, all in one answer', async () => {
    const session = await opened(dashboard.store, { accountId: account, deviceId: 'lost-1' });
    const { id: sessionId, gateway, epoch } = session;
    const notice = { code: 'no_reading', channel: null, insight: 'hr', reason: 'hum', detail: 'no trusted hr: …' };
    const seen = { firstAt: 1, lastAt: 2, count: 1 };
    const refused = [{ code: 'bad_json', count: 3, detail: '"' }];
    const notices = [
      { ...notice, ...seen, isOver: false },
      { ...notice, ...seen, insight: 'rr', isOver: true },
    ];
    const diagnostics = { notices, refused, channels: [] };
    await dashboard.store.putDiagnostics({ sessionId, gateway, epoch, diagnostics, problem: 'no_reading' });
    const { json } = await call<StreamingRow[]>('GET', `/accounts/${account}/streaming?prefix=lost`);
    const present = { code: 'no_reading', insight: 'hr', reason: 'hum', detail: 'no trusted hr: …' };
    expect(json).to.deep.equal([{ device_id: 'lost-1', session_id: session.id, notices: [present], refused }]);
  });

  describe('for a session', () => {
    const at = newMoment();
    const progress = { ...NO_PROGRESS, firstInstant: at, lastInstant: at + 10_000 };
    const session = sampleSession({ deviceId: 'ring-1', startedAt: at + 86_400_000, progress });

    before(async () => {
      await dashboard.store.openSession(session);
      const ends = [1, 2, 3, 4, 9, 10].map((s) => at + s * 1000);
      const insights = ends.map((end, i) => sampleInsight(session, end, end + 100, { value: 60 + i }));
      await dashboard.store.commit([partOf(session, insights)]);
    });

    it('gives its readings as columns, with its gaps', async () => {
      const [series] = (await call<Series[]>('GET', `/sessions/${session.id}/series`)).json;
      expect(series).to.deep.include({ type: 'hr', unit: 'bpm', readings: 6, thinned: false });
      expect(series?.value).to.deep.equal([60, 61, 62, 63, null, 64, 65]);
      expect(series?.t.map((t) => (t - at) / 1000)).to.deep.equal([1, 2, 3, 4, 5, 9, 10]);
      expect(series?.latency[0]).to.equal(100);
      const part = (await call<Series[]>('GET', `/sessions/${session.id}/series?from=${at + 2000}&to=${at + 4000}`))
        .json;
      expect(part[0]?.value).to.deep.equal([61, 62, 63]);
    });

    it('gives all its readings as CSV', async () => {
      const { headers, text } = await call('GET', `/sessions/${session.id}/insights.csv`);
      expect(headers.get('content-type')).to.contain('text/csv');
      expect(headers.get('content-disposition')).to.contain(`insights-${session.id}.csv`);
      const [head, first, ...rest] = text.trim().split('\r\n');
      expect(head).to.match(/^ts,type,value,unit,sqi_class/);
      expect(first).to.match(new RegExp(`^${at + 1100},hr,60,bpm,excellent,`));
      expect(rest).to.have.length(5);
    });

    it('breaks off the CSV that is being sent when the login ends', async () => {
      const long = sampleSession({ accountId: account, deviceId: 'ring-2' });
      const count = 60_000;
      const insights = Array.from({ length: count }, (_, i) => sampleInsight(long, at + i, at + i));
      await dashboard.store.openSession(long);
      await dashboard.store.commit([partOf(long, insights)]);
      const login = await dashboard.cookie('ann');
      const url = `${dashboard.url}/dashboard/api/sessions/${long.id}/insights.csv`;
      const [answer] = (await once(get(url, { headers: { cookie: login } }), 'response')) as [IncomingMessage];
      await once(answer, 'readable');
      const ended = once(answer, 'error'); // May come before the answer to the sign-out.
      await dashboard.call('POST', '/dashboard/api/sign-out', { cookie: login });
      let lines = 0;
      answer.on('data', (data: Buffer) => (lines += data.toString('latin1').split('\n').length - 1));
      const [error] = await ended;
      expect(error).to.include({ code: 'ECONNRESET' });
      expect(lines).to.be.lessThan(count);
    });

    it('gives its summary, of trusted readings alone, with the time of each class, also as CSV', async () => {
      const path = `/sessions/${session.id}/summary`;
      const rr = [1, 3].map((s) =>
        sampleInsight(session, at + s * 1000, undefined, { type: 'rr', sqi_class: 'unfit' }),
      );
      await dashboard.store.commit([partOf(session, rr)]);
      const [hr, breathing] = (await call<SummaryRow[]>('GET', path)).json;
      const values = { mean: 62.5, minimum: 60, maximum: 65 };
      expect(hr).to.deep.equal({ type: 'hr', unit: 'bpm', ...values, excellent_s: 6, acceptable_s: 0, unfit_s: 0 });
      expect(breathing).to.include({ type: 'rr', mean: null, excellent_s: 0, unfit_s: 4 });
      const { text } = await call('GET', `${path}.csv`);
      expect(text.split('\r\n').slice(0, 3)).to.deep.equal([
        'session_id,device_id,type,unit,mean,minimum,maximum,excellent_s,acceptable_s,unfit_s',
        `${session.id},ring-1,hr,bpm,62.5,60,65,6,0,0`,
        `${session.id},ring-1,rr,brpm,,,,0,0,4`,
      ]);
    });

    it('is listed by device, status and time', async () => {
      const path = `/accounts/${session.accountId}/sessions`;
      await dashboard.store.createAccount({ id: session.accountId, name: 's', algorithms: null, createdAt: 0 });
      const since = new Date(at).toISOString();
      const list = async (query: string) =>
        (await call<Listed<SessionRow>>('GET', `${path}?${query}`)).json.rows.length;
      expect(await list('device=ring-1&status=open')).to.equal(1);
      expect(await list('device=ring-2')).to.equal(0);
      expect(await list('status=closed')).to.equal(0);
      expect([await list(`data_since=${since}`), await list(`data_until=${since}`)]).to.deep.equal([1, 0]);
    });
  });

  it('thins a long session, but keeps its highest and lowest readings', async () => {
    const session = await opened(dashboard.store);
    const value = (i: number) => (i === 7777 ? 199 : i === 3333 ? 31 : 70);
    const insights = Array.from({ length: 10_000 }, (_, i) =>
      sampleInsight(session, session.startedAt + i * 1000, session.startedAt + i * 1000, { value: value(i) }),
    );
    await dashboard.store.commit([partOf(session, insights)]);
    const [series] = (await call<Series[]>('GET', `/sessions/${session.id}/series`)).json;
    const values = series?.value.map(Number) ?? [];
    expect(series?.readings).to.equal(10_000);
    expect(series?.value.length).to.be.within(1000, 2000);
    expect([Math.max(...values), Math.min(...values)]).to.deep.equal([199, 31]);
  });

  it('makes the charts of an operator one at a time, because a long one takes much memory', async () => {
    const { store } = dashboard;
    const { sessionInsights } = store;
    const session = await opened(store);
    let running = 0;
    let most = 0;
    Object.assign(store, {
      async *sessionInsights(...asked: Parameters<typeof sessionInsights>) {
        running += 1;
        most = Math.max(most, running);
        for (let turn = 0; turn < 100; turn++) await setImmediate(); // The others come meanwhile.
        yield* sessionInsights(...asked);
        running -= 1;
      },
    });
    const answers = Array.from({ length: 4 }, () => call<Series[]>('GET', `/sessions/${session.id}/series`));
    expect((await Promise.all(answers)).map(({ status }) => status)).to.deep.equal([200, 200, 200, 200]);
    Object.assign(store, { sessionInsights });
    expect(most).to.equal(1);
  });

  it('shows the health of the gateway, with the cause, which /v1/health does not show', async () => {
    await dashboard.store.beat('another', dashboard.clock.now());
    const { json } = await call<Node>('GET', '/node');
    expect(json).to.include({ ok: false, reason: 'subscribe: x', cause: 'because', gateway: 'this one' });
    expect(json.gateways[0]?.id).to.equal('another');
    expect(json.versions.service).to.match(/^\d+\.\d+\.\d+$/);
  });

  it('gives the audit log, newest first', async () => {
    const { json } = await call<Listed<AuditRow>>('GET', '/audit?limit=200');
    const actions = json.rows.map(({ action }) => action);
    expect(actions[0]).to.equal('device deleted');
    expect(actions).to.include.members(['signed in', 'account created', 'key issued', 'key rotated', 'key revoked']);
  });
});

describe('the pages of the dashboard', () => {
  let dashboard: TestDashboard;
  before(async () => {
    dashboard = await TestDashboard.start();
  });
  after(() => dashboard.stop());

  it('are the same page at every address, which browsers revalidate, with assets that never change', async () => {
    const page = await dashboard.call('GET', '/dashboard');
    expect([page.status, page.headers.get('cache-control')]).to.deep.equal([200, 'no-cache']);
    expect((await dashboard.call('GET', '/dashboard/sessions/1')).text).to.equal(page.text);
    const script = /src="(\/dashboard\/assets\/[^"]+\.js)"/.exec(page.text)?.[1] ?? '';
    const file = await dashboard.call('GET', script);
    expect([file.status, file.headers.get('content-encoding')]).to.deep.equal([200, 'gzip']);
    expect(file.headers.get('cache-control')).to.contain('immutable');
    const etag = page.headers.get('etag') ?? '';
    const again = await dashboard.call('GET', '/dashboard', {
      headers: { 'if-none-match': etag, 'cache-control': 'max-age=0' },
    });
    expect([again.status, again.text]).to.deep.equal([304, '']);
  });

  it('allow no script or resource except those of this service', async () => {
    const { headers, text } = await dashboard.call('GET', '/dashboard');
    const policy = headers.get('content-security-policy') ?? '';
    expect(policy).to.contain("default-src 'none'").and.to.contain("script-src 'self'");
    expect(policy).not.to.contain('unsafe');
    expect(text).not.to.match(/<script(?![^>]* src=)|<style|style=|https?:\/\//);
  });

  it('are the only files: a file that was not built does not exist', async () => {
    for (const path of ['/dashboard/assets/nothing.js', '/dashboard/assets/../../package.json', '/docs/secret'])
      expect((await dashboard.call('GET', path)).status, path)
        .to.be.oneOf([404, 200])
        .and.not.to.equal(500);
    expect((await dashboard.call('GET', '/dashboard/assets/nothing.js')).status).to.equal(404);
    expect((await dashboard.call('GET', '/docs/secret')).status).to.equal(404);
    expect((await dashboard.call('POST', '/dashboard')).status).to.equal(404);
  });
});
