import { connect } from 'node:net';
import { expect } from 'chai';
import { StoreUnavailable } from '../store/store.js';
import { detailOf, type Tenant, TestServer } from './rest-server.fixture.js';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

describe('the REST pipeline', () => {
  let server: TestServer;
  let tenant: Tenant;

  before(async () => {
    server = await TestServer.start();
    tenant = await server.tenant();
  });
  after(() => server.stop());

  describe('keys', () => {
    it('are accepted with the scheme in upper and lower case', async () => {
      for (const scheme of ['Bearer', 'bearer', 'BEARER', 'bEaReR']) {
        const { status } = await server.request('GET', '/v1/algos', undefined, undefined, {
          authorization: `${scheme} ${tenant.key}`,
        });
        expect(status, scheme).to.equal(200);
      }
    });

    it('answers 401 with WWW-Authenticate if the key is missing, malformed, unknown, of another scheme or in the query', async () => {
      const unknown = 'svc_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA';
      const wrong = [undefined, '', 'Bearer', 'Bearer ', `Bearer ${unknown}`, `Basic ${tenant.key}`, tenant.key];
      for (const authorization of [...wrong, `Bearer ${tenant.key} x`, `Bearer x${tenant.key}`, 'Bearer svc_short']) {
        const headers: Record<string, string> = authorization === undefined ? {} : { authorization };
        const answer = await server.request('GET', '/v1/algos', undefined, undefined, headers);
        expect(answer.status, authorization).to.equal(401);
        expect(answer.headers.get('www-authenticate')).to.equal('Bearer');
        detailOf(answer);
      }
      expect((await server.request('GET', `/v1/algos?api_key=${tenant.key}`)).status).to.equal(401);
    });

    it('are logged with the address of the client if they are refused, also behind a proxy', async () => {
      const from = async (headers: Record<string, string>) => {
        const before = server.logged.length;
        const { status } = await server.request('GET', '/v1/algos', `svc_${'B'.repeat(32)}`, undefined, headers);
        return [status, ...server.logged.slice(before)];
      };
      const line = (address: string) => ({
        fields: { address, keyPrefix: 'svc_BBBB' },
        text: 'an API key was refused',
      });
      expect(await from({})).to.deep.equal([401, line('127.0.0.1')]);
      expect(await from({ 'x-forwarded-for': '198.51.100.1, 203.0.113.9' })).to.deep.equal([401, line('203.0.113.9')]);
    });

    it('are refused as soon as they are revoked', async () => {
      const { key, accountId } = await server.tenant();
      expect((await server.request('GET', '/v1/algos', key)).status).to.equal(200);
      for (const { id } of await server.store.keys(accountId)) await server.store.revokeKey(id, Date.now());
      expect((await server.request('GET', '/v1/algos', key)).status).to.equal(401);
    });

    it('are refused from the instant of their expiry', async () => {
      const { accountId } = await server.tenant();
      const expired = await server.key(accountId, null, Date.now());
      const answer = await server.request('GET', '/v1/algos', expired);
      expect(answer.status).to.equal(401);
      expect(detailOf(answer)).to.include('expired');
      const good = await server.key(accountId, null, Date.now() + 60_000);
      expect((await server.request('GET', '/v1/algos', good)).status).to.equal(200);
    });

    it('are recorded when they are used', async () => {
      const { key, accountId } = await server.tenant();
      await server.request('GET', '/v1/algos', key);
      await server.store.touchKeys([], 0); // what was asked for before is done before
      expect((await server.store.keys(accountId)).map(({ lastUsedAt }) => lastUsedAt !== null)).to.include(true);
    });

    it('are required before all other checks: unknown paths, wrong methods, bad bodies', async () => {
      const asked: [method: string, path: string, body?: string][] = [
        ['GET', '/v1'],
        ['GET', '/v1/'],
        ['GET', '/v1/nothing'],
        ['GET', '/v1/device-models/x'],
        ['PATCH', '/v1/device-models'],
        ['OPTIONS', '/v1/device-models'],
        ['POST', '/v1/device-models', '{'],
        ['POST', '/v1/stream/health'],
        ['GET', '/v1/stream/healthy'],
        ['GET', '/v1/stream/health/'],
        ['GET', '/v1/insights?limit=0'],
        ['GET', '/openapi.json'],
        ['POST', '/openapi.json'],
      ];
      for (const [method, path, body] of asked) {
        expect((await server.request(method, path, undefined, body)).status, `${method} ${path}`).to.equal(401);
      }
    });

    it('are not required outside /v1', async () => {
      const like = [
        '/openapi.json/',
        '/OpenAPI.json',
        '//openapi.json',
        '/openapi%2Ejson',
        '/openapi.json%2F',
        '/./openapi.json/',
      ];
      const others = [
        '/',
        '/nothing',
        '/v2/device-models',
        '/V1/device-models',
        '//v1/algos',
        '/%761/algos',
        '/v1%2Falgos',
      ];
      for (const path of [...like, ...others, '/stream/ingest/', '/Stream/ingest', '/stream/other']) {
        const answer = await server.request('GET', path);
        expect(answer.status, path).to.equal(404);
        detailOf(answer);
      }
    });
  });

  describe('paths and methods', () => {
    it('answers 404 to unknown paths, and to known ones with a slash at their end', async () => {
      const unknown = ['/v1', '/v1/nothing', '/v1/sessions/x/y', '/v1/device-models/%ZZ/modalities/%/x'];
      for (const path of [...unknown, '/v1/algos/', '/v1/device-models/', '/v1/stream/health/', '/openapi.json/']) {
        const answer = await server.request('GET', path, tenant.key);
        expect(answer.status, path).to.equal(404);
        detailOf(answer);
      }
    });

    it('answers 426 to a plain request of a socket, which needs no key, and 405 to other methods', async () => {
      const answer = await server.request('GET', '/stream/ingest?api_key=x');
      expect(answer.status).to.equal(426);
      expect(answer.headers.get('upgrade')).to.equal('websocket');
      expect(answer.headers.get('connection')).to.match(/upgrade/i);
      detailOf(answer);
      const other = await server.request('POST', '/stream/ingest');
      expect([other.status, other.headers.get('allow')]).to.deep.equal([405, 'GET, HEAD']);
    });

    it('answers 405 with Allow to a known path with another method', async () => {
      const id = '00000000-0000-4000-8000-000000000000';
      const allowed: [path: string, wrong: string[], allow: string[]][] = [
        ['/v1/device-models', ['PUT', 'DELETE', 'PATCH', 'OPTIONS', 'PROPFIND'], ['GET', 'HEAD', 'POST']],
        [`/v1/device-models/${id}`, ['POST', 'PATCH'], ['DELETE', 'GET', 'HEAD', 'PUT']],
        [`/v1/device-models/${id}/modalities`, ['PUT', 'DELETE'], ['GET', 'HEAD', 'POST']],
        [`/v1/device-models/${id}/modalities/${id}`, ['GET', 'HEAD', 'POST'], ['DELETE', 'PUT']],
        ['/v1/sessions', ['POST', 'DELETE'], ['GET', 'HEAD']],
        [`/v1/sessions/${id}`, ['PUT', 'DELETE'], ['GET', 'HEAD']],
        [`/v1/sessions/${id}/insights`, ['POST'], ['GET', 'HEAD']],
        ['/v1/insights', ['POST', 'DELETE'], ['GET', 'HEAD']],
        ['/v1/algos', ['POST'], ['GET', 'HEAD']],
        ['/v1/stream/health', ['POST'], ['GET', 'HEAD']],
        ['/openapi.json', ['PUT'], ['GET', 'HEAD']],
      ];
      for (const [path, wrong, allow] of allowed) {
        for (const method of wrong) {
          const answer = await server.request(method, path, tenant.key);
          expect(answer.status, `${method} ${path}`).to.equal(405);
          expect(answer.headers.get('allow')?.split(', ').sort(), path).to.deep.equal(allow);
          if (method !== 'HEAD') detailOf(answer);
        }
      }
    });

    it('answers HEAD like GET, without the body', async () => {
      for (const path of ['/v1/algos', '/v1/sessions', '/v1/stream/health', '/openapi.json']) {
        const [head, get] = [
          await server.request('HEAD', path, tenant.key, undefined, { 'accept-encoding': 'identity' }),
          await server.request('GET', path, tenant.key, undefined, { 'accept-encoding': 'identity' }),
        ];
        expect([head.status, head.text], path).to.deep.equal([200, '']);
        expect(head.headers.get('content-length'), path).to.equal(get.headers.get('content-length'));
      }
    });
  });

  describe('every answer', () => {
    it('is JSON in UTF-8 and has its own X-Request-Id', async () => {
      const ids = new Set<string | null>();
      for (const [path, key] of [
        ['/v1/algos', tenant.key],
        ['/v1/algos', undefined],
        ['/v1/nothing', tenant.key],
        ['/nothing', undefined],
        ['/v1/stream/health', undefined],
        ['/openapi.json', tenant.key],
        ['/v1/insights?limit=x', tenant.key],
      ] as const) {
        const { headers } = await server.request('GET', path, key);
        expect(headers.get('content-type'), path).to.equal('application/json; charset=utf-8');
        expect(headers.get('x-request-id'), path).to.match(UUID);
        ids.add(headers.get('x-request-id'));
      }
      expect(ids.size).to.equal(7);
    });

    it('keeps a well-formed X-Request-Id of the request, whatever the answer', async () => {
      for (const id of ['a', 'A-z.0_9:b', 'x'.repeat(128), 'svc_', `svc_${'a'.repeat(21)}-b`]) {
        for (const [path, key] of [
          ['/v1/algos', tenant.key],
          ['/v1/algos', undefined],
          ['/nothing', undefined],
        ] as const) {
          const { headers } = await server.request('GET', path, key, undefined, { 'x-request-id': id });
          expect(headers.get('x-request-id'), path).to.equal(id);
        }
      }
    });

    it('has its own X-Request-Id if that of the request is malformed or contains an API key', async () => {
      const keys = [tenant.key, `a-${tenant.key}.b`, `svc_${'0'.repeat(22)}`];
      for (const id of ['', ' ', 'x'.repeat(129), 'a b', 'a/b', 'a,b', 'é', '"a"', ...keys]) {
        const { headers } = await server.request('GET', '/v1/algos', tenant.key, undefined, { 'x-request-id': id });
        expect(headers.get('x-request-id'), id).to.match(UUID);
      }
      const twice =
        'GET /nothing HTTP/1.1\r\nHost: x\r\nX-Request-Id: a\r\nX-Request-Id: b\r\nConnection: close\r\n\r\n';
      expect(await exchange(server.url, twice)).to.match(/X-Request-Id: [0-9a-f-]{36}\r\n/i);
    });

    it('allows any origin, without credentials, and exposes the headers that a client reads', async () => {
      for (const [path, key] of [
        ['/v1/algos', tenant.key],
        ['/v1/algos', undefined],
        ['/v1/nothing', tenant.key],
      ] as const) {
        const { headers } = await server.request('GET', path, key, undefined, { origin: 'https://app.example' });
        expect(headers.get('access-control-allow-origin')).to.equal('*');
        expect(headers.get('access-control-allow-credentials')).to.equal(null);
        expect(headers.get('access-control-expose-headers')).to.equal('Link,X-Request-Id,Date,Retry-After');
      }
    });

    it('to a CORS preflight needs no key', async () => {
      const preflight = { origin: 'https://app.example', 'access-control-request-method': 'PUT' };
      const { status, headers } = await server.request(
        'OPTIONS',
        '/v1/device-models/x',
        undefined,
        undefined,
        preflight,
      );
      expect(status).to.equal(204);
      expect(headers.get('access-control-allow-origin')).to.equal('*');
      expect(headers.get('access-control-allow-headers')).to.equal('Authorization,Content-Type,Idempotency-Key');
      expect(headers.get('access-control-allow-methods')?.split(',')).to.include.members([
        'GET',
        'POST',
        'PUT',
        'DELETE',
      ]);
      expect(headers.get('x-request-id')).to.match(UUID);
    });
  });

  describe('failures', () => {
    it('show no internal details; the cause is in the log under the request id', async () => {
      await using failing = await TestServer.start((store) => ({
        store: {
          ...store,
          insights: () => Promise.reject(new StoreUnavailable('secret path /var/lib')),
          sessions: () => Promise.reject(new TypeError('secret bug')),
        },
      }));
      const { key } = await failing.tenant();
      for (const path of ['/v1/insights', '/v1/sessions']) {
        const requestId = path.replaceAll('/', ':');
        const answer = await failing.request('GET', path, key, undefined, { 'x-request-id': requestId });
        expect(answer.status).to.equal(500);
        expect(detailOf(answer)).not.to.match(/secret|bug|store/i);
        const logged = failing.logged.find(({ fields }) => fields.requestId === requestId);
        expect(String(logged?.fields.err)).to.contain('secret');
      }
    });

    it('answers 401 if the key is bad, and 500 if the store of the keys fails', async () => {
      await using failing = await TestServer.start(() => ({
        keys: { key: () => Promise.reject(new StoreUnavailable('down')) },
      }));
      expect((await failing.request('GET', '/v1/algos', 'nonsense')).status).to.equal(401);
      expect((await failing.request('GET', '/v1/algos', tenant.key)).status).to.equal(500);
    });

    it('answers a request that is not HTTP in the same form', async () => {
      for (const [sent, status] of [
        ['garbage\r\n\r\n', 'HTTP/1.1 400 '],
        [`GET / HTTP/1.1\r\nHost: x\r\nX-Long: ${'x'.repeat(20_000)}\r\n\r\n`, 'HTTP/1.1 431 '],
        ['GET http://[::1 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n', 'HTTP/1.1 400 '],
      ] as const) {
        const raw = await exchange(server.url, sent);
        expect(raw).to.match(new RegExp(`^${status}`));
        expect(raw).to.match(/X-Request-Id: [0-9a-f-]{36}\r\n/);
        detailOf({ json: JSON.parse(raw.slice(raw.indexOf('\r\n\r\n'))) });
      }
      expect((await server.request('GET', '/v1/algos', tenant.key)).status).to.equal(200);
    });
  });
});

/** Sends bytes as they are and gives what comes back until the other side closes. */
function exchange(url: string, sent: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url);
    let received = '';
    const socket = connect(Number(port), hostname, () => socket.write(sent));
    socket.setEncoding('utf8').on('data', (chunk) => {
      received += chunk;
    });
    socket.on('close', () => resolve(received)).on('error', reject);
  });
}
