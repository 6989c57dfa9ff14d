import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { expect } from 'chai';
import { operatorRow } from '../operators/operator.js';
import { PASSWORD, TestDashboard } from './dashboard-server.fixture.js';
import type { AccountRow } from './rows.js';

describe('signing in to the dashboard', () => {
  let dashboard: TestDashboard;

  before(async () => {
    dashboard = await TestDashboard.start();
    for (const name of ['ann', 'bob', 'dan', 'eve']) await dashboard.operator(name);
    await dashboard.operator('vera', 'viewer');
    const costs = { slow: '32768$8$10', quick: '2$1$1' };
    for (let i = 0; i < 20; i++)
      for (const [kind, cost] of Object.entries(costs)) {
        const row = { id: randomUUID(), name: `${kind} ${i}`, role: 'viewer' as const, revision: 1, createdAt: 0 };
        await dashboard.store.addOperator({ ...row, password: `scrypt$${cost}$c2FsdA$aGFzaA` });
      }
  });
  after(() => dashboard.stop());

  const me = (cookie: string) => dashboard.call('GET', '/dashboard/api/me', { cookie });

  it('signs an operator in with its password, for twelve hours', async () => {
    const { status, json, headers } = await dashboard.signIn('ann');
    expect([status, json]).to.deep.equal([
      200,
      { name: 'ann', role: 'operator', expires_at: '2026-03-01T22:00:00.000Z' },
    ]);
    const cookie = String(headers.get('set-cookie'));
    expect(cookie).to.match(/^di_dashboard=[\w-]{43}; Path=\/dashboard; HttpOnly; SameSite=Strict; Max-Age=43200$/);
    const [name = ''] = cookie.split(';');
    expect((await me(name)).json).to.deep.equal(json);
    const { rows } = await dashboard.store.auditLog({ limit: 1, cursor: null });
    expect(rows[0]).to.include({ actor: 'ann', action: 'signed in', subject: '127.0.0.1' });
    dashboard.clock.advance(12 * 3_600_000);
    expect((await me(name)).status).to.equal(401);
  });

  it('marks the cookie as secure behind a TLS proxy', async () => {
    const origin = dashboard.url.replace('http:', 'https:'); // Of a proxy that does not send the other header.
    for (const sent of [{ 'x-forwarded-proto': 'https' }, { origin }] as Record<string, string>[]) {
      const { headers } = await dashboard.signIn('ann', PASSWORD, sent);
      expect(headers.get('set-cookie'), JSON.stringify(sent)).to.match(/; Secure$/);
    }
  });

  it('stores no token: the stored hash is not accepted', async () => {
    const cookie = await dashboard.cookie('ann');
    expect((await me(cookie)).status).to.equal(200);
    expect((await me('di_dashboard=0000000000000000000000000000000000000000000')).status).to.equal(401);
    expect((await me('')).status).to.equal(401);
  });

  it('gives the same answer for a wrong name and a wrong password, and logs the attempt', async () => {
    const [name, password] = [await dashboard.signIn('nobody'), await dashboard.signIn('ann', 'wrong')];
    expect([name.status, name.json]).to.deep.equal([401, password.json]);
    expect(name.json.detail).to.contain('the name or the password is wrong');
    expect(dashboard.logged.at(-1)).to.deep.equal({
      fields: { address: '127.0.0.1', operator: 'ann' },
      text: 'a sign-in to the dashboard was refused',
    });
    expect(JSON.stringify(dashboard.logged)).not.to.contain('wrong"');
    const { rows } = await dashboard.store.auditLog({ limit: 2, cursor: null });
    const entry = { action: 'sign-in refused', accountId: null, subject: '127.0.0.1' };
    expect(rows[0]).to.deep.include({ ...entry, actor: 'ann' });
    expect(rows[1], 'a name that nobody has may be a password').to.deep.include({ ...entry, actor: 'an unknown name' });
  });

  it('reads no more of a body than a sign-in needs, as anybody may send one', async () => {
    const long = { name: 'x'.repeat(200), password: '\u0001'.repeat(200), pad: '' };
    const padded = (bytes: number) => ({ ...long, pad: 'x'.repeat(bytes - JSON.stringify(long).length) });
    const send = (body: object) => dashboard.call('POST', '/dashboard/api/sign-in', { body });
    expect((await send(padded(8192))).status).to.equal(401);
    const { status, json } = await send(padded(8193));
    expect([status, json.detail]).to.deep.equal([400, 'body: must be at most 8192 bytes long']);
  });

  it('slows down an address after 20 failures, and says how long to wait', async () => {
    const from = { 'x-forwarded-for': '203.0.113.20' };
    for (let i = 0; i < 20; i++) expect((await dashboard.signIn(`quick ${i}`, 'wrong', from)).status).to.equal(401);
    const { status, json, headers } = await dashboard.signIn('bob', PASSWORD, from);
    expect([status, headers.get('retry-after')]).to.deep.equal([429, '1']);
    expect(json.detail).to.equal('too many attempts: try again in 1 s');
    dashboard.clock.advance(1000);
    expect((await dashboard.signIn('bob', PASSWORD, from)).status).to.equal(200);
  });

  describe('while strangers keep the checks busy', () => {
    const from = (address: string, name: string, password = 'x') =>
      dashboard.signIn(name, password, { 'x-forwarded-for': address });
    /** Attempts from many addresses on one operator, until the connections are dropped. */
    const flood = (net: string, name: string, addresses = 150) => {
      let answered = 0;
      let begin: () => void;
      const all = Array.from({ length: addresses }, async (_, i) => {
        while ((await from(`${net}.${i}`, name)).status > 0) if (++answered === 3) begin();
      });
      return {
        begun: new Promise<void>((resolve) => {
          begin = resolve;
        }),
        answered: () => answered,
        end: () => {
          dashboard.drop();
          return Promise.allSettled(all);
        },
      };
    };

    it('lets 4 of one address wait, and tells others there to try again', async () => {
      const answers = Array.from({ length: 8 }, (_, i) => from('203.0.115.1', `slow ${i}`));
      const { status, headers } = await Promise.race(answers);
      expect([status, headers.get('retry-after')]).to.deep.equal([429, '1']);
      dashboard.drop();
      await Promise.allSettled(answers);
    });

    it('signs an operator in at an address where nobody has failed, after at most two of their attempts', async () => {
      await dashboard.store.addOperator(await operatorRow('amy', 'operator', PASSWORD, 0)); // With a hash of real costs.
      const strangers = flood('198.51.100', 'amy');
      await strangers.begun;
      for (const address of ['192.0.2.1', '192.0.2.2', '2001:db8::1']) {
        const before = strangers.answered();
        expect((await from(address, 'amy', PASSWORD)).status).to.equal(200);
        expect(strangers.answered() - before).to.be.at.most(2);
      }
      await strangers.end();
    });

    it('signs an operator in at a known address without waiting for their attempts, also after a restart', async () => {
      expect((await from('192.0.2.9', 'bob', PASSWORD)).status).to.equal(200);
      dashboard.restart();
      let isAnswered = false;
      const slow = from('198.51.100.1', 'slow 0').finally(() => (isAnswered = true));
      expect((await from('192.0.2.9', 'bob', PASSWORD)).status).to.equal(200);
      expect(isAnswered).to.equal(false);
      await slow;
    });
  });

  it('distinguishes clients behind a proxy of its own network', async () => {
    const from = (forwarded: string) => dashboard.signIn('nobody at all', 'x', { 'x-forwarded-for': forwarded });
    for (let i = 0; i < 5; i++) await from('203.0.113.7');
    await dashboard.call('POST', '/dashboard/api/sign-in', {
      body: { name: 'somebody', password: 'x' },
      headers: { 'x-forwarded-for': '198.51.100.1, 203.0.113.9' },
    });
    expect(dashboard.logged.at(-1)?.fields).to.include({ address: '203.0.113.9' });
  });

  it('ends the logins of an operator that signs out, gets a new password or is removed', async () => {
    const cookies = [await dashboard.cookie('eve'), await dashboard.cookie('eve'), await dashboard.cookie('eve')];
    const [first = '', second = ''] = cookies;
    const out = await dashboard.call('POST', '/dashboard/api/sign-out', { cookie: first });
    expect(out.status).to.equal(204);
    expect(out.headers.get('set-cookie')).to.contain('di_dashboard=; ').and.to.contain('Max-Age=0');
    expect([(await me(first)).status, (await me(second)).status]).to.deep.equal([401, 200]);
    const id = (await dashboard.store.operatorNamed('eve'))?.id ?? '';
    await dashboard.store.setOperatorPassword(id, 'another');
    expect((await me(second)).status).to.equal(401);
  });

  it('changes the own password of everybody who knows it, and ends the other logins', async () => {
    await dashboard.operator('zoe', 'viewer');
    const [here, elsewhere] = [await dashboard.cookie('zoe'), await dashboard.cookie('zoe')];
    const change = (current: string, password: string) =>
      dashboard.call('POST', '/dashboard/api/password', { cookie: here, body: { current, password } });
    const wrong = await change('not this one', 'a much better one');
    expect([wrong.status, wrong.json.detail]).to.deep.equal([403, 'the current password is wrong']);
    expect((await change(PASSWORD, 'short')).status).to.equal(400);
    const { status, headers } = await change(PASSWORD, 'a much better one');
    expect(status).to.equal(200);
    const next = String(headers.get('set-cookie')).split(';', 1)[0] ?? '';
    const statuses = [];
    for (const cookie of [here, elsewhere, next]) statuses.push((await me(cookie)).status);
    expect(statuses).to.deep.equal([401, 401, 200]);
    const { rows } = await dashboard.store.auditLog({ limit: 1, cursor: null });
    expect(rows[0]).to.include({ actor: 'zoe', action: 'password changed', subject: 'zoe' });
    expect((await dashboard.signIn('zoe', 'a much better one')).status).to.equal(200);
    expect((await dashboard.signIn('zoe', PASSWORD)).status).to.equal(401);
  });

  it('refuses a change whose login was ended while its body arrived', async () => {
    const cookie = await dashboard.cookie('dan');
    const login = dashboard.store.login;
    const isChecked = new Promise<void>((resolve) => {
      dashboard.store.login = (hash) => login(hash).finally(resolve);
    });
    const headers = { origin: dashboard.url, 'x-dashboard': '1', cookie, 'content-type': 'application/json' };
    const call = request(`${dashboard.url}/dashboard/api/accounts`, { method: 'POST', headers });
    call.write('{"nam');
    const answer = once(call, 'response');
    await isChecked;
    dashboard.store.login = login;
    const id = (await dashboard.store.operatorNamed('dan'))?.id ?? '';
    await dashboard.store.setOperatorPassword(id, 'another');
    call.end('e":"clinic"}');
    const [response] = (await answer) as [IncomingMessage];
    expect(response.resume().statusCode).to.equal(401);
    expect(await dashboard.store.accounts()).to.deep.equal([]);
  });

  it('refuses changes that come from a foreign page', async () => {
    const cookie = await dashboard.cookie('ann');
    const make = (headers: Record<string, string>) =>
      dashboard.call('POST', '/dashboard/api/accounts', { cookie, headers, body: { name: `x${Math.random()}` } });
    for (const headers of [
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { origin: '' },
      { origin: `${dashboard.url}.evil.example` },
      { 'x-dashboard': '' },
    ]) {
      const { status, json } = await make(headers as Record<string, string>);
      expect([status, json.detail]).to.deep.equal([
        403,
        "only the dashboard's own pages can make this request: open /dashboard of this service; a proxy must pass the header Host unchanged",
      ]);
    }
    expect(await dashboard.store.accounts()).to.deep.equal([]);
    expect((await make({})).status).to.equal(201);
    const foreign = await dashboard.signIn('ann', PASSWORD, { origin: 'https://evil.example' });
    expect(foreign.status).to.equal(403);
  });

  it('lets a viewer read, and change nothing', async () => {
    const cookie = await dashboard.cookie('vera');
    const { json } = await dashboard.call<AccountRow[]>('GET', '/dashboard/api/accounts', { cookie });
    const account = json[0]?.id;
    const key = '00000000-0000-4000-8000-000000000000';
    for (const [method, path, body] of [
      ['POST', '/accounts', { name: 'y' }],
      ['PUT', `/accounts/${account}/algorithms`, { algorithms: null }],
      ['POST', `/accounts/${account}/keys`, {}],
      ['POST', `/keys/${key}/revoke`, undefined],
      ['POST', `/keys/${key}/rotate`, { overlap: '1h' }],
      ['DELETE', `/accounts/${account}/devices/band-1`, undefined],
    ] as const) {
      const answer = await dashboard.call(method, `/dashboard/api${path}`, { cookie, body });
      expect([answer.status, answer.json.detail], path).to.deep.equal([
        403,
        'a viewer cannot change anything: ask an operator to do this',
      ]);
    }
  });

  it('requires a login before everything else, whatever the path', async () => {
    for (const path of ['accounts', 'node', 'audit', 'algorithms', 'nothing', 'accounts/x/keys']) {
      const answer = await dashboard.call('GET', `/dashboard/api/${path}`, {
        headers: { authorization: 'Bearer svc_0123456789abcdefghijABCDEFGHIJ' },
      });
      expect(answer.status, path).to.equal(401);
    }
  });
});
