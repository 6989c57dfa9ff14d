import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import type { DeviceInsightsOptions } from '../app-client.js';
import { DeviceInsights } from '../client.js';
import { type Clock, systemClock } from '../clock.js';
import { SocketServer } from '../socket/socket-server.fixture.js';
import { ApiError, ConnectionError } from './api-error.js';

const TIMEOUT_MS = 12_345;

interface Answer {
  readonly status: number;
  /** An object is sent as JSON, a text as it is. */
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
}

interface Asked {
  readonly request: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: unknown;
}

describe('REST client, on faults of the service and the network', () => {
  let server: SocketServer;
  let asked: Asked[];
  let answers: (Answer | 'hang' | 'stall' | 'break')[];
  let stalled: ServerResponse | null;

  beforeEach(() => {
    [server, asked, answers, stalled] = [new SocketServer(), [], [], null];
    server.respond = async (request, response) => {
      const body = await text(request);
      asked.push({
        request: `${request.method} ${request.url}`,
        headers: request.headers,
        body: body && JSON.parse(body),
      });
      const answer = answers.shift() ?? { status: 200, body: [] };
      if (answer === 'break') return request.socket.destroy();
      if (answer === 'hang') return;
      if (answer === 'stall') {
        stalled = response;
        return void response.writeHead(200, { 'content-type': 'application/json' }).write('[');
      }
      const payload = typeof answer.body === 'object' ? JSON.stringify(answer.body) : String(answer.body ?? '');
      response.writeHead(answer.status, { 'content-type': 'application/json', ...answer.headers }).end(payload);
    };
  });
  afterEach(() => server.close());

  async function client(options: Partial<DeviceInsightsOptions> = {}): Promise<DeviceInsights> {
    return new DeviceInsights({
      baseUrl: `${await server.url()}/`,
      apiKey: 'svc_key',
      backoff: { random: () => 0 },
      ...options,
    });
  }

  const failure = (promise: PromiseLike<unknown>) =>
    Promise.resolve(promise).then(
      () => null,
      (error: unknown) => error,
    );

  it('gives a refusal with its status, detail and request id, and does not ask again', async () => {
    answers.push({ status: 409, body: { detail: 'devices reference it' }, headers: { 'x-request-id': 'r1' } });
    const error = await failure((await client()).deviceModels.delete('m'));
    expect(error)
      .to.be.instanceOf(ApiError)
      .and.include({ status: 409, detail: 'devices reference it', requestId: 'r1' });
    expect(asked).to.have.length(1);
  });

  it('gives every refusal with its status, and a failure or 429 also from a proxy, which says it in its own way', async () => {
    const api = await client({ retries: 0 });
    const errors: unknown[] = [];
    for (const status of [400, 401, 403, 404, 409, 418, 429, 500, 503]) {
      answers.push({ status, body: status < 429 ? { detail: 'no' } : 'of a proxy' });
      errors.push(String(await failure(api.algos.list())).slice(0, 17));
    }
    expect(errors).to.deep.equal([
      ...[400, 401, 403, 404, 409, 418].map((status) => `ApiError: ${status}: no`),
      ...[429, 500, 503].map((status) => `ApiError: ${status}: of`),
    ]);
  });

  it('tries twice more after a failure of the server or the connection', async () => {
    answers.push({ status: 503, body: { detail: 'later' } }, 'break', { status: 200, body: [{ id: 'a' }] });
    expect(await (await client()).algos.list()).to.deep.equal([{ id: 'a' }]);
    answers.push({ status: 500 }, { status: 500 }, { status: 500, body: { detail: 'still' } }, { status: 200 });
    expect(await failure((await client()).algos.list())).to.include({ status: 500, detail: 'still' });
  });

  it('sends a create again under the same Idempotency-Key, and another create under another', async () => {
    const api = await client();
    answers.push('break', { status: 201, body: {} }, { status: 201, body: {} });
    await api.deviceModels.create({ name: 'a' });
    await api.deviceModels.create({ name: 'a' });
    const keys = asked.map(({ headers }) => headers['idempotency-key']);
    expect(keys[0]).to.match(/^[\d.e-]{20,}$/);
    expect([keys[1], keys[2] === keys[0]]).to.deep.equal([keys[0], false]);
    expect(asked[1]?.body).to.deep.equal({ name: 'a' });
  });

  it('abandons an attempt after its timeout', async () => {
    answers.push('hang', 'hang');
    const error = await failure((await client({ timeoutMs: 200, retries: 1 })).algos.list());
    expect(error).to.be.instanceOf(ConnectionError);
    expect(String(error)).to.match(/GET .*\/v1\/algos: no answer within 200 ms/);
    expect(asked).to.have.length(2);
  });

  describe('if an answer comes, but not all of it', () => {
    /** Each ends a limit of time, if that was not cancelled. */
    let limits: (() => void)[];
    const after: Clock['after'] = (_, run) => {
      let isOn = true;
      limits.push(() => isOn && run());
      return () => {
        isOn = false;
      };
    };
    /** A call whose answer has begun; `call` is what the call gives. */
    const begin = async () => {
      limits = [];
      answers.push('stall');
      const options = { clock: { now: systemClock.now, after }, timeoutMs: TIMEOUT_MS, retries: 0 };
      const call = (await client(options)).algos.list().catch((error: unknown) => error);
      // One limit is for the beginning of the answer, one for its first part, one for the next part.
      while (limits.length < 3) await new Promise((resolve) => setImmediate(resolve));
      return { call };
    };

    it('says so once no part of it has come for a while', async () => {
      const { call } = await begin();
      limits[2]?.();
      expect(String(await call)).to.contain(`/v1/algos: the answer stopped for ${TIMEOUT_MS} ms`);
    });

    it('waits for the rest as long as parts of it come', async () => {
      const { call } = await begin();
      for (const end of limits.slice(0, 2)) end();
      stalled?.end(']');
      expect(await call).to.deep.equal([]);
    });
  });

  it('stops at once when the call is aborted', async () => {
    answers.push('hang');
    const abort = new AbortController();
    const call = failure((await client()).algos.list({ signal: abort.signal }));
    while (asked.length === 0) await new Promise((resolve) => setImmediate(resolve));
    abort.abort(new Error('enough'));
    expect(String(await call)).to.equal('Error: enough');
    expect(asked).to.have.length(1);
  });

  it('makes no request if the call is already aborted', async () => {
    const signal = AbortSignal.abort(new Error('never'));
    expect(String(await failure((await client()).deviceModels.delete('m', { signal })))).to.equal('Error: never');
    expect(asked).to.deep.equal([]);
  });

  it('waits as long as Retry-After says, but gives up if that is more than 30 s', async () => {
    const waits: number[] = [];
    const after: Clock['after'] = (ms, run) => {
      if (ms === TIMEOUT_MS) return () => {};
      waits.push(ms);
      return systemClock.after(0, run);
    };
    const api = await client({ clock: { now: systemClock.now, after }, timeoutMs: TIMEOUT_MS });
    const busy = (status: number, seconds: string) => ({ status, headers: { 'retry-after': seconds } });
    answers.push(busy(429, '3'), busy(503, 'Wed, 21 Oct 2015 07:28:00 GMT'), { status: 200, body: [] });
    expect(await api.algos.list()).to.deep.equal([]);
    answers.push(busy(409, '30'), { status: 201, body: { id: 'a' } });
    expect(await api.deviceModels.create({ name: 'a' })).to.deep.equal({ id: 'a' });
    answers.push(busy(429, '31'));
    expect(await failure(api.algos.list())).to.include({ status: 429 });
    expect(waits).to.deep.equal([3000, 0, 30_000]);
  });

  it('tries again after 408', async () => {
    answers.push({ status: 408 }, { status: 200, body: [{ id: 'a' }] });
    expect(await (await client()).algos.list()).to.deep.equal([{ id: 'a' }]);
  });

  it('takes only JSON for an answer of the service', async () => {
    const api = await client();
    const html = { 'content-type': 'text/html' };
    for (const [answer, message] of [
      [
        { status: 200, body: '<p>log in</p>', headers: html },
        /GET \S+ the answer is not from the service \(200, text.html\)/,
      ],
      [{ status: 200, body: '' }, /not from the service/],
      [{ status: 403, body: '<p>log in</p>', headers: html }, /not from the service \(403, text.html\)/],
      [{ status: 200, body: '[{' }, /not from the service/],
    ] as const) {
      answers.push(answer);
      const error = await failure(api.insights.list());
      expect(error).to.be.instanceOf(ConnectionError);
      expect(String(error)).to.match(message);
    }
  });

  it('rejects JSON of an unexpected form as an answer of the service, and says what to check', async () => {
    const api = await client();
    for (const body of [null, {}, { error: 'x' }, 'text', 1, [null], [[]]])
      for (const call of [
        () => api.sessions.list(),
        () => api.insights.list()[Symbol.asyncIterator]().next(),
        () => api.sessions.insights('s'),
        () => api.deviceModels.list(),
        () => api.modalities.list('m'),
        () => api.algos.list(),
      ]) {
        answers.push({ status: 200, body: JSON.stringify(body) });
        const error = await failure(call());
        expect(error).to.be.instanceOf(ConnectionError);
        expect(String(error)).to.match(/GET \S+ the answer is not from the service .*\): check baseUrl, and /);
      }
    for (const body of [null, [], 'text', 1])
      for (const call of [
        () => api.health(),
        () => api.sessions.get('s'),
        () => api.deviceModels.create({ name: 'Band' }),
      ]) {
        answers.push({ status: 200, body: JSON.stringify(body) });
        expect(String(await failure(call()))).to.match(/ConnectionError: .*\): check baseUrl, and /);
      }
  });

  it('follows no redirect, which would turn a create into a GET, and says where it leads', async () => {
    const api = await client();
    const location = 'https://insights.example/v1';
    for (const status of [301, 302, 303, 307, 308])
      for (const call of [
        () => api.algos.list(),
        () => api.deviceModels.create({ name: 'Band' }),
        () => api.deviceModels.delete('m1'),
      ]) {
        asked = [];
        answers = [{ status, headers: { location, 'content-type': 'text/html' } }];
        const error = await failure(call());
        expect(error).to.be.instanceOf(ConnectionError);
        expect(String(error)).to.contain(`not from the service (a redirect to ${location})`);
        expect(asked).to.have.length(1);
      }
  });

  it('knows a redirect in a browser, which shows neither its status nor where it leads', async () => {
    const hidden = Object.defineProperty(Response.error(), 'type', { value: 'opaqueredirect' });
    const api = await client({ fetch: async () => hidden });
    expect(String(await failure(api.algos.list()))).to.contain('a redirect to another address');
  });

  it('accepts Infinity as no limit', async () => {
    expect(await (await client({ timeoutMs: Number.POSITIVE_INFINITY, retries: 0 })).algos.list()).to.deep.equal([]);
  });

  it('refuses ids that would change the address', async () => {
    const api = await client();
    for (const id of ['', '.', '..']) {
      expect(await failure(api.sessions.insights(id))).to.be.instanceOf(TypeError);
      expect(await failure(api.modalities.delete('m', id))).to.be.instanceOf(TypeError);
    }
    expect(asked).to.deep.equal([]);
  });

  it('refuses options that do not exist, of the client, of lists and of calls, which would have no effect', async () => {
    const api = await client();
    const wrong = { device: 'band-1' } as object;
    expect(() => api.sessions.list(wrong)).to.throw(TypeError, 'sessions.list has no option "device"; its options are');
    expect(() => api.insights.list(wrong)).to.throw(TypeError, 'device_id');
    expect(String(await failure(api.algos.list(wrong)))).to.contain('TypeError: a call has no option "device"');
    await client({ timeout: 5 } as object).then(
      () => expect.fail('accepted'),
      (error) => expect(error).to.be.instanceOf(TypeError).and.property('message').contains('timeoutMs'),
    );
    expect(asked).to.deep.equal([]);
  });

  it('refuses instants in seconds and in microseconds, as numbers and as dates', async () => {
    const api = await client();
    const now = Date.UTC(2026, 10, 26);
    for (const [since, message] of [
      [now / 1000, /since must be ms since the epoch, such as Date.now\(\); it is 1795651200/],
      [new Date(now / 1000), /ms since the epoch/],
      [now * 1000, /ms since the epoch/],
      [now * 1e6, /ms since the epoch/],
      [Number.NaN, /since must be ms since the epoch.*NaN/],
      [new Date('soon'), /since must be ms since the epoch.*NaN/],
    ] as const)
      expect(() => api.insights.list({ since }), `${since}`).to.throw(RangeError, message);
    expect(() => api.insights.list({ until: now / 1000 })).to.throw(RangeError, 'until must');
    expect(() => api.insights.list({ data_since: now / 1000 })).to.throw(RangeError, 'data_since must');
    expect(() => api.sessions.list({ data_until: now * 1000 })).to.throw(RangeError, 'data_until must');
    for (const since of [0, now, new Date(now), '2026-01-31T08:00:00Z']) await api.insights.list({ since });
    expect(asked).to.have.length(4);
  });

  it('ends the iteration of a list at the next row when its signal aborts, with the reason', async () => {
    answers.push({ status: 200, body: [{ id: 1 }, { id: 2 }] });
    const abort = new AbortController();
    const rows: unknown[] = [];
    const reading = async () => {
      for await (const row of (await client()).sessions.list({}, { signal: abort.signal })) {
        rows.push(row);
        abort.abort(new Error('enough'));
      }
    };
    expect(String(await failure(reading()))).to.equal('Error: enough');
    expect(rows).to.deep.equal([{ id: 1 }]);
  });

  describe('of a server that is broken or hostile', () => {
    it('rejects an answer that is too long, immediately and without another attempt', async () => {
      let sent = 0;
      server.respond = (request, response) => {
        asked.push({ request: `${request.url}`, headers: {}, body: null });
        response.writeHead(200, { 'content-type': 'application/json' });
        const more = (error?: Error | null) => {
          if (error || response.destroyed || response.socket?.destroyed) return;
          sent += 65_536;
          response.write(' '.repeat(65_536), more);
        };
        more();
      };
      const error = await failure((await client({ maxResponseBytes: 1_000_000 })).algos.list());
      expect(error).to.be.instanceOf(ConnectionError);
      expect(String(error)).to.contain('/v1/algos: the answer has more than 1000000 bytes (maxResponseBytes)');
      expect(asked).to.have.length(1);
      expect(sent).to.be.lessThan(50_000_000);
    });

    it('also limits an answer that has no stream, as in React Native', async () => {
      const own: typeof fetch = async (...call) =>
        Object.defineProperty(await fetch(...call), 'body', { get: () => undefined });
      answers.push({ status: 200, body: [{ id: 'a'.repeat(100) }] });
      const error = await failure((await client({ fetch: own, maxResponseBytes: 100 })).algos.list());
      expect(String(error)).to.contain('has more than 100 bytes');
    });

    it('shows no key that the server echoes, and cuts its texts to one short line', async () => {
      const api = await client({ retries: 0 });
      const echo = `Bearer svc_key\r\n\u001b[2J${'x'.repeat(10_000)}`;
      for (const answer of [
        { status: 400, body: { detail: echo } },
        { status: 404, body: { detail: echo }, headers: { 'x-request-id': 'svc_key' } },
        { status: 502, body: echo, headers: { 'content-type': 'text/html' } },
        { status: 301, headers: { location: `https://x.example/?key=svc_key&${'x'.repeat(5000)}` } },
        { status: 200, body: 'no', headers: { 'content-type': `svc_key ${'x'.repeat(5000)}` } },
      ]) {
        answers.push(answer);
        const error = (await failure(api.algos.list())) as Error;
        expect(error.message, `${answer.status}`).to.match(/^[^\p{Cc}]{1,1300}$/u);
        expect(JSON.stringify({ ...error, message: error.message })).not.to.contain('svc_key');
      }
    });

    it('rejects with a documented error, whatever the answer is', async () => {
      const api = await client({ retries: 0 });
      const link = '</v1/insights?cursor=%FF%>; rel="next"';
      for (const answer of [
        { status: 200, body: '['.repeat(100_000) },
        { status: 200, body: [], headers: { link } },
        { status: 403, body: { detail: { toString: 1 } } },
        { status: 500, body: { detail: { toString: 1 } } },
        { status: 500, body: '{"__proto__":null}' },
        { status: 299, body: '' },
        { status: 999, body: { detail: 'x' } },
        { status: 204 },
        { status: 205, body: '' },
        'break' as const,
      ]) {
        answers.push(answer);
        const error = await failure(api.insights.list());
        const isDocumented = error instanceof ApiError || error instanceof ConnectionError;
        expect(isDocumented, `${JSON.stringify(answer).slice(0, 80)}: ${error}`).to.equal(true);
      }
    });
  });

  it('uses the fetch that it is given', async () => {
    const seen: string[] = [];
    const own: typeof fetch = (input, init) => {
      seen.push(String(input));
      return fetch(input, init);
    };
    await (await client({ fetch: own })).algos.list();
    expect(seen).to.deep.equal([`${await server.url()}/v1/algos`]);
  });

  it('needs no streams of a fetch', async () => {
    const own: typeof fetch = async (...call) =>
      Object.defineProperty(await fetch(...call), 'body', { get: () => undefined });
    answers.push({ status: 200, body: [{ id: 'a' }] });
    expect(await (await client({ fetch: own })).algos.list()).to.deep.equal([{ id: 'a' }]);
  });
});
