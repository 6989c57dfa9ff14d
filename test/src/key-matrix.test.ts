import { startRedis, type TestRedis } from '@device-insights/fanout/test-redis';
import { startTestMongo } from '@device-insights/gateway/test-mongo';
import { simulate } from '@device-insights/sdk/simulator';
import { expect } from 'chai';
import { eventually } from './eventually.js';
import { startFanoutNode } from './fanout-node.js';
import { MODEL, type Operation, operations, ROWS, type Row } from './key-matrix.js';
import { Operator } from './operator.js';
import { KEY, Running, temporaryFolder } from './running.js';
import type { ServerProcess } from './server-process.js';
import { RawSocket } from './socket.js';
import { connect, makeModel, sendFrames, subscribe } from './wearable.js';

const source = simulate({ seconds: 30 });
const OPERATIONS = operations();

type Permission = 'read' | 'stream' | 'manage';

/** A key that must be refused, by its fault. */
type Bad = 'malformed' | 'too long' | 'unknown' | 'revoked' | 'expired';

interface Model {
  readonly id: string;
  readonly modality_channels: readonly { readonly ch_id: string }[];
}

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly authenticate: string | null;
}

describe('the table of the key matrix', () => {
  it('has a row for each operation of the OpenAPI document, and no other', () => {
    expect(Object.keys(ROWS)).to.have.members(OPERATIONS.map(({ id }) => id));
  });
});

matrix('the embedded store', async () => ({ env: {}, stop: async () => undefined }));
matrix('MongoDB', async () => {
  const mongo = await startTestMongo();
  return { env: { MONGODB_URI: mongo.uri(`keys-${process.pid}`) }, stop: () => mongo.stop() };
});

function matrix(name: string, openStore: () => Promise<{ env: Record<string, string>; stop(): Promise<void> }>): void {
  describe(`keys on ${name}`, () => {
    const folder = temporaryFolder();
    let store: Awaited<ReturnType<typeof openStore>>;
    let redis: TestRedis;
    let gateway: Running;
    let node: ServerProcess;
    let bad: Record<Bad, string>;
    let anna: string;
    let ben: string;
    let foreign: string;
    /** Keys of the account that have one permission. */
    let only: Record<Permission, string>;
    let sessionId: string;
    let sessionModel: string;
    /** A device model that no operation has changed. */
    let fresh: Model | null = null;
    /** Bodies of all error responses. */
    const refusals: string[] = [];

    before(async function () {
      this.timeout(900_000); // The first run may have to install servers.
      [store, redis] = await Promise.all([openStore(), startRedis()]);
      const env = { ...store.env, DATA_DIR: folder.path, REDIS_URL: redis.url, METRICS_PORT: '0', LOG_LEVEL: 'trace' };
      gateway = await Running.start(env);
      node = await startFanoutNode(env);
      const operator = new Operator({ ...store.env, DATA_DIR: folder.path });
      const expired = await operator.issueExpiring('default');
      const revoked = await operator.issue('default');
      await operator.revoke(revoked.id);
      anna = (await operator.issue('default', '--user', 'anna')).key;
      ben = (await operator.issue('default', '--user', 'ben')).key;
      foreign = (await operator.issue('another')).key;
      const withOne = async (name: Permission) => (await operator.issue('default', '--permissions', name)).key;
      only = { read: await withOne('read'), stream: await withOne('stream'), manage: await withOne('manage') };
      const unknown = `svc_${'Unknown0'.repeat(4)}`;
      const malformed = 'svc_Malformed0Malformed';
      const long = `svc_${'TooLong0'.repeat(17)}`;
      bad = { malformed, unknown, 'too long': long, revoked: revoked.key, expired: expired.key };
      sessionModel = await makeModel(gateway, source);
      sessionId = await stream(anna, 'of-anna');
      await eventually('a key has expired', () => Date.now() > expired.expiresAt);
    });
    after(async () => {
      for (const server of [gateway, node]) await server?.end('SIGKILL');
      await redis?.stop();
      await store?.stop();
      folder.remove();
    });

    /** Creates a session with insights; returns its id. */
    async function stream(key: string, deviceId: string, modelId = sessionModel): Promise<string> {
      const { socket, ready } = await connect(gateway, deviceId, modelId, key);
      await sendFrames(socket, source, Date.now() - 30_000, 0, 20);
      socket.send({ type: 'end' });
      await socket.until((message) => message.type === 'ended');
      return ready.session_id;
    }

    async function request(method: string, path: string, headers: Record<string, string>, body?: object) {
      const [type, sent] = body instanceof Uint8Array ? ['octet-stream', body] : ['json', body && JSON.stringify(body)];
      const init = { method, headers: { 'content-type': `application/${type}`, ...headers } };
      const response = await fetch(gateway.url + path, { ...init, ...(sent && { body: sent }) });
      const text = await response.text();
      if (response.status >= 400) refusals.push(text);
      return { status: response.status, text, authenticate: response.headers.get('www-authenticate') };
    }

    /** Runs an operation on a fresh device model, or on the session of Anna; `headers` may carry the key. */
    async function perform(operation: Operation, headers: Record<string, string>) {
      const model = fresh ?? (await gateway.call<Model>('POST', '/v1/device-models', MODEL)).body;
      const modelId = model.id;
      const names = { dm_id: modelId, ch_id: model.modality_channels[0]?.ch_id ?? '' };
      const values: Record<string, string> = {
        ...names,
        id: operation.path.includes('sessions') ? sessionId : modelId,
      };
      const path = operation.path.replace(/\{(\w+)\}/g, (_, parameter: string) => values[parameter] ?? '');
      const query = operation.path === '/v1/uploads' ? `?device_id=matrix&device_model_id=${modelId}` : '';
      const answer = await request(operation.method, path + query, headers, ROWS[operation.id]?.body);
      const after = await gateway.call('GET', `/v1/device-models/${modelId}`);
      const isUntouched = after.status === 200 && equal(after.body, model);
      fresh = isUntouched && (operation.method === 'GET' || answer.status >= 400) ? model : null;
      return { ...answer, modelId, isUntouched };
    }

    const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

    for (const operation of OPERATIONS) {
      const row = ROWS[operation.id] as Row;
      const { id, isPublic } = operation;
      const needed = row.needs ?? (operation.method === 'GET' ? 'read' : 'manage');
      const isForAll = isPublic || operation.path === '/openapi.json';

      it(`${id}: no key and bad ones get ${isPublic ? row.status : 401}`, async () => {
        const attempts: Record<string, Record<string, string>> = { none: {} };
        for (const [fault, key] of Object.entries(bad)) attempts[fault] = bearer(key);
        for (const [fault, headers] of Object.entries(attempts)) {
          const answer = await perform(operation, headers);
          expect(answer.status, fault).to.equal(isPublic ? row.status : 401);
          if (!isPublic) expectRefusal(answer, fault);
          expect(answer.isUntouched, fault).to.equal(true);
        }
      });

      it(`${id}: its owner gets ${row.status}`, async () => {
        for (const key of needed === 'manage' ? [KEY] : [KEY, anna])
          expect((await perform(operation, bearer(key))).status).to.equal(row.status);
      });

      it(`${id}: ${isForAll ? 'any key may' : `a key without ${needed} gets 403, which names it`}`, async () => {
        const keys: [string, string][] =
          needed === 'manage' ? [...Object.entries(only), ['a user', anna]] : Object.entries(only);
        for (const [permission, key] of keys) {
          const answer = await perform(operation, bearer(key));
          const isGood = isForAll || permission === needed;
          expect(answer.status, permission).to.equal(isGood ? row.status : 403);
          if (isGood) continue;
          expect(answer.text, permission).to.include(`the permission \\"${needed}\\"`);
          expect(answer.isUntouched, permission).to.equal(true);
        }
      });

      for (const [whose, sight] of [
        ['another account', row.otherAccount],
        ['another user', row.otherUser],
      ] as const) {
        if (whose === 'another user' && needed === 'manage') continue; // No user's key may.
        it(`${id}: ${sight} to ${whose}`, async () => {
          const answer = await perform(operation, bearer(whose === 'another account' ? foreign : ben));
          expect(answer.status).to.equal(sight === 'forbidden' ? 403 : row.status);
          if (sight === 'same') return;
          expect(answer.text).not.to.include(sessionId).and.not.to.include(answer.modelId);
          expect(answer.isUntouched).to.equal(true);
        });
      }
    }

    function expectRefusal({ text, authenticate }: Answer, what: string): void {
      expect(authenticate, what).to.match(/^Bearer/);
      expect(Object.keys(JSON.parse(text) as object), what).to.deep.equal(['detail']);
    }

    it('are required at every path of the document, with any method, before all other checks', async () => {
      const paths = [...new Set(OPERATIONS.filter((it) => !it.isPublic).map(({ path }) => path)), '/v1', '/v1/nothing'];
      for (const path of paths)
        for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'])
          expect((await request(method, path, {})).status, `${method} ${path}`).to.equal(401);
    });

    describe('at the sockets', () => {
      const subscribing = (place: ServerProcess, query: string) =>
        new RawSocket(`${place.wsUrl}/stream/subscribe${query}`).closed();
      const ingesting = (key: string | null, deviceId: string) => {
        const query = new URLSearchParams({ device_id: deviceId, device_model_id: sessionModel });
        if (key !== null) query.set('api_key', key);
        return new RawSocket(`${gateway.wsUrl}/stream/ingest?${query}`);
      };

      it('no key and bad ones are closed with 4001', async () => {
        for (const key of [null, '', ...Object.values(bad)]) {
          expect(await ingesting(key, 'band').closed(), `${key}`).to.include({ code: 4001 });
          for (const place of [gateway, node])
            expect(await subscribing(place, key === null ? '' : `?api_key=${key}`), `${key}`).to.include({
              code: 4001,
            });
        }
      });

      it('a device of another account is closed with 4003, one of another user has a session of its own', async () => {
        expect(await ingesting(foreign, 'band').closed()).to.include({ code: 4003 });
        const socket = ingesting(ben, 'of-ben');
        expect(await socket.next()).to.include({ type: 'ready' });
        socket.send({ type: 'end' });
        await socket.until((message) => message.type === 'ended');
      });

      it('a key without the permission for a socket is closed: 4003 at ingest, 4001 at both subscriber sockets', async () => {
        for (const key of [only.read, only.manage]) {
          const { code, reason } = await ingesting(key, 'band').closed();
          expect({ code, reason }).to.deep.include({ code: 4003 });
          expect(reason).to.include('the permission "stream"');
        }
        for (const key of [only.stream, only.manage])
          for (const place of [gateway, node]) {
            const { code, reason } = await subscribing(place, `?api_key=${key}`);
            expect(code).to.equal(4001);
            expect(reason).to.include('the permission "read"');
          }
      });

      it("a user's key gets 4003 for a device that streams for somebody else, whose session goes on", async () => {
        for (const owner of [anna, KEY]) {
          const socket = ingesting(owner, 'watch');
          const ready = await socket.next();
          const { code, reason } = await ingesting(ben, 'watch').closed();
          expect(code).to.equal(4003);
          expect(reason).to.include('somebody else');
          socket.send({ type: 'ping', t: 1 });
          expect(await socket.next()).to.deep.equal({ type: 'pong', t: 1 });
          socket.send({ type: 'end' });
          await socket.until((message) => message.type === 'ended');
          expect(ready).to.include({ type: 'ready' });
        }
        const socket = ingesting(ben, 'watch');
        expect(await socket.next()).to.include({ type: 'ready' });
        socket.send({ type: 'end' });
        await socket.until((message) => message.type === 'ended');
      });

      it('a subscriber gets only the insights that its key may see, at the gateway and at a node', async () => {
        const seen = new Map<string, RawSocket[]>();
        for (const key of [KEY, anna, ben, foreign])
          seen.set(key, await Promise.all([gateway, node].map((place) => subscribe(place, key))));
        const first = async (key: string) =>
          (await Promise.all((seen.get(key) ?? []).map((it) => it.next()))).map((m) => m.session_id);
        const annas = await stream(anna, 'band-of-anna');
        for (const key of [KEY, anna]) expect(await first(key)).to.deep.equal([annas, annas]);
        const bens = await stream(ben, 'band-of-ben');
        expect(await first(ben)).to.deep.equal([bens, bens]);
        const { body } = await gateway.call<{ id: string }>('POST', '/v1/device-models', source.deviceModel, foreign);
        const foreigns = await stream(foreign, 'band-of-another', body.id);
        expect(await first(foreign)).to.deep.equal([foreigns, foreigns]);
        for (const socket of [...seen.values()].flat()) socket.close();
      });
    });

    it('appear in no log line, no metric and no body of a refusal, wherever they were sent', async () => {
      const secrets = [KEY, anna, ben, foreign, ...Object.values(bad)];
      for (const key of secrets) {
        const json = JSON.stringify({ name: key });
        const places: [path: string, headers?: Record<string, string>][] = [
          [`/v1/sessions?api_key=${key}`],
          [`/v1/sessions?limit=${key}&cursor=${key}&status=${key}`, bearer(KEY)],
          [`/v1/insights?since=${key}&type=${key}`, bearer(KEY)],
          [`/v1/sessions/${key}`, bearer(KEY)],
          [`/v1/device-models/${key}/modalities`, bearer(KEY)],
          [`/v1/${key}`, bearer(KEY)],
          [`/${key}`],
          [`/stream/${key}`],
          ['/v1/algos', { authorization: key }],
          ['/v1/algos', { authorization: `Basic ${key}` }],
          ['/v1/algos', { authorization: `Bearer Bearer ${key}` }],
          ['/v1/algos', { authorization: `Bearer ${key},${key}` }],
          ['/v1/nothing', { ...bearer(KEY), 'x-request-id': key }],
          ['/v1/algos', { 'x-request-id': key, 'x-api-key': key, cookie: `api_key=${key}`, 'user-agent': key }],
        ];
        for (const [path, headers = {}] of places) await request('GET', path, headers);
        await request(key, '/v1/algos', bearer(KEY)).catch(() => undefined);
        for (const body of [`${json}}`, json.replace('{', '{"modality_channels":'), json.replace('"name"', json)])
          await raw(body, { ...bearer(KEY), 'idempotency-key': key });
        for (const path of [`/stream/${key}`, `/stream/ingest?device_id=${key}&api_key=${key}&clock=${key}`])
          for (const place of [gateway, node]) await ended(new RawSocket(`${place.wsUrl}${path}`));
        await ingestAs(key);
      }
      const metrics = await Promise.all([gateway, node].map(metricsOf));
      const said = [gateway.log, gateway.banner.join('\n'), node.log, ...metrics, ...refusals];
      for (const key of secrets) {
        const core = key.slice('svc_'.length);
        for (const text of said) expect(lineWith(text, core)).to.equal(null);
      }
      expect(gateway.log).to.include('device connected');
      expect(refusals.length).to.be.greaterThan(100);
    });

    async function raw(body: string, headers: Record<string, string>): Promise<void> {
      const init = { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body };
      const response = await fetch(`${gateway.url}/v1/device-models`, init);
      const text = await response.text();
      if (response.status >= 400) refusals.push(text);
    }

    /** A device whose parameters are mixed up. */
    async function ingestAs(deviceId: string): Promise<void> {
      const query = new URLSearchParams({ device_id: deviceId, device_model_id: sessionModel, api_key: KEY });
      const socket = new RawSocket(`${gateway.wsUrl}/stream/ingest?${query}`);
      await socket.next().then(
        () => socket.close(),
        () => undefined,
      );
      await ended(socket);
    }
  });
}

/** Also for a socket that was refused before its upgrade. */
async function ended(socket: RawSocket): Promise<void> {
  await socket.closed().catch(() => undefined);
}

async function metricsOf(place: ServerProcess): Promise<string> {
  return (await fetch(`${place.operationsUrl}/metrics`)).text();
}

function lineWith(text: string, secret: string): string | null {
  return text.split('\n').find((line) => line.includes(secret)) ?? null;
}

function equal(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
