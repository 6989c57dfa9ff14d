import { once } from 'node:events';
import { Readable } from 'node:stream';
import { expect } from 'chai';
import { WebSocket } from 'ws';
import type { DeviceInsightsOptions } from '../app-client.js';
import { DeviceInsights } from '../client.js';
import { systemClock } from '../clock.js';
import { Random } from '../simulator/random.js';
import { ClosedError } from '../socket/reconnection.js';
import { type Peer, SocketServer } from '../socket/socket-server.fixture.js';
import type { LiveInsight } from './insight.js';
import type { LiveSubscription } from './live.js';
import type { Hole, SubscribeOptions } from './subscribe-options.js';

/** An insight published a minute ago, so that it is settled; `value` tells them apart and orders them. */
const insight = (value: number, changes: Partial<LiveInsight> = {}): LiveInsight => ({
  type: 'hr',
  value,
  unit: 'bpm',
  ts: Date.now() - 60_000 + value,
  session_id: 's1',
  device_id: 'd1',
  confidence: 0.9,
  sqi_class: 'excellent',
  ...changes,
});

describe('live subscription', () => {
  let server: SocketServer;
  let live: LiveSubscription;
  /** What the service has stored, in order of `ts`, and how it answers. */
  let stored: LiveInsight[];
  let refusal: number | null;
  let requests: URLSearchParams[];
  let pageRows: number;

  beforeEach(() => {
    server = new SocketServer();
    [stored, refusal, requests, pageRows] = [[], null, [], 3];
    server.respond = ({ url = '' }, response) => {
      const query = new URL(url, 'http://x').searchParams;
      requests.push(query);
      if (refusal !== null) return response.writeHead(refusal).end(JSON.stringify({ detail: 'no' }));
      const first = stored.findIndex(({ ts }) => ts >= Date.parse(query.get('since') ?? ''));
      const from = first < 0 ? first : Math.max(Number(query.get('cursor') ?? 0), first);
      const limit = Math.min(Number(query.get('limit')), pageRows);
      const listed = from >= 0 ? stored.slice(from, from + limit) : [];
      const until = Date.parse(query.get('until') ?? '') || Number.POSITIVE_INFINITY;
      const data = query.has('since') ? listed.filter(({ ts }) => ts < until) : stored.slice(-limit);
      const more = from >= 0 && query.has('since') && (stored[from + limit]?.ts ?? until) < until;
      const link = { link: `</v1/insights?cursor=${from + limit}>; rel="next"` };
      return response
        .writeHead(200, { 'content-type': 'application/json', ...(more && link) })
        .end(JSON.stringify(data));
    };
  });
  afterEach(async () => {
    live.close();
    await server.close();
  });

  async function subscribe(wishes: SubscribeOptions = {}, options: Partial<DeviceInsightsOptions> = {}): Promise<Peer> {
    const client = new DeviceInsights({
      baseUrl: await server.url(),
      apiKey: 'svc_key',
      backoff: { random: () => 0 },
      ...options,
    });
    live = client.live.subscribe(wishes);
    return server.peer();
  }

  /** Confirms the subscription for the first time; resolves when the service has been asked for its start. */
  async function begin(peer: Peer): Promise<void> {
    peer.send({ status: 'subscribed' });
    await live.subscribed();
    while (requests.length === 0) await new Promise((resolve) => setImmediate(resolve));
  }

  /** A subscription that has begun so. */
  async function begun(...options: Parameters<typeof subscribe>): Promise<Peer> {
    const peer = await subscribe(...options);
    await begin(peer);
    return peer;
  }

  /** The next connection, its subscription confirmed. */
  async function confirmed(): Promise<Peer> {
    const peer = await server.peer();
    peer.send({ status: 'subscribed' });
    return peer;
  }

  /** The insights of a gateway whose clock is 5 minutes behind `now`, by number. */
  const lateSince = (now: number) => (n: number) => insight(n, { ts: now - 300_000 + n, session_id: 's2' });

  /** Cuts the connection, and confirms the next one when the service has stored these insights. */
  async function comesBack(peer: Peer, insights: readonly LiveInsight[]): Promise<void> {
    peer.socket.close(1012);
    const next = await server.peer();
    stored = [...insights];
    next.send({ status: 'subscribed' });
  }

  async function take(count: number): Promise<LiveInsight[]> {
    const taken: LiveInsight[] = [];
    const insights = live[Symbol.asyncIterator]();
    while (taken.length < count) {
      const { value, done } = await insights.next();
      if (done) break;
      taken.push(value);
    }
    return taken;
  }

  const valuesOf = (insights: readonly LiveInsight[]) => insights.map(({ value }) => value);

  it('is closed at once if its consumer leaves the loop while no insights arrive, like a destroyed stream', async () => {
    const { socket } = await subscribe();
    const closed = once(socket, 'close');
    const stream = Readable.from(live).resume();
    await new Promise(setImmediate);
    stream.destroy();
    await closed;
    expect(live.state).to.equal('closed');
  });

  it('is closed if its consumer leaves the loop before the first insight', async () => {
    await subscribe();
    await live[Symbol.asyncIterator]().return();
    expect(live.state).to.equal('closed');
  });

  it('sends its key, skips the status and gives the insights in order', async () => {
    const peer = await subscribe();
    expect(peer.query.get('api_key')).to.equal('svc_key');
    expect(live.state).to.equal('connecting');
    peer.send({ status: 'subscribed' });
    await live.subscribed();
    expect(live.state).to.equal('live');
    for (const value of [61, 62, 63]) peer.send(insight(value));
    expect(valuesOf(await take(3))).to.deep.equal([61, 62, 63]);
  });

  it('ignores unknown types and messages that are not insights', async () => {
    const peer = await subscribe();
    peer.send({ status: 'subscribed' });
    peer.send({ ...insight(1), type: 'glucose' });
    peer.socket.send('not JSON');
    peer.send([]);
    peer.send(insight(2));
    expect(valuesOf(await take(1))).to.deep.equal([2]);
  });

  it('gives only insights that pass the filter', async () => {
    const peer = await subscribe({ devices: ['d1', 'd2'], types: ['hr', 'rr'], quality: 'acceptable' });
    peer.send({ status: 'subscribed' });
    peer.send(insight(1, { device_id: 'd3' }));
    peer.send(insight(2, { type: 'spo2' }));
    peer.send(insight(3, { sqi_class: 'unfit' }));
    peer.send(insight(4, { type: 'rr', device_id: 'd2', sqi_class: 'acceptable' }));
    peer.send(insight(5));
    expect(valuesOf(await take(2))).to.deep.equal([4, 5]);
  });

  it('refuses options that would never deliver what they ask for', async () => {
    await subscribe();
    const client = new DeviceInsights({ baseUrl: await server.url(), apiKey: 'svc_key' });
    for (const [name, value] of Object.entries({
      buffer: [0, Number.NaN],
      quality: ['good'],
      types: [['HR'], 'hr'],
      devices: ['d1', ['d1', ''], ['a b'], ['x'.repeat(129)]],
      connectWithinMs: [0, Number.NaN],
    }).flatMap(([key, values]) => values.map((wrong) => [key, wrong] as const)))
      expect(() => client.live.subscribe({ [name]: value }), `${name}: ${value}`).to.throw(TypeError, name);
    expect(() => client.live.subscribe({ device: 'd1' } as object)).to.throw(
      TypeError,
      'subscribe has no option "device"; its options are devices, sessions, types',
    );
  });

  it('throws from its iteration what onStatus throws, also at the end', async () => {
    for (const at of ['live', 'closed']) {
      const peer = await subscribe({
        onStatus: ({ state }) => {
          if (state === at) throw new Error(`fault at ${at}`);
        },
      });
      peer.send({ status: 'subscribed' });
      if (at === 'closed') peer.socket.close(1000);
      expect(String(await take(1).catch((error: unknown) => error))).to.equal(`Error: fault at ${at}`);
    }
  });

  it('reads the missed insights after a loss, each once, before the new ones', async () => {
    const now = Date.now();
    const first = await begun();
    const all = Array.from({ length: 9 }, (_, n) => insight(n, { ts: now + n }));
    first.send(all[0] as object);
    first.send(all[1] as object);
    stored = all.slice(0, 7).map((one) => ({ ...one, coverage: 1, actual_end: 5 }));
    first.socket.close(1012);
    const second = await confirmed();
    for (const one of all.slice(5)) second.send(one);
    expect(await take(9)).to.deep.equal(all);
    expect([live.reconnects, live.repaired]).to.deep.equal([1, 5]);
  });

  it('reads from 10 s before the newest insight, but nothing from before the subscription', async () => {
    const first = await subscribe();
    stored = [insight(0)];
    await begin(first);
    const newest = Date.now() + 3_600_000;
    first.send(insight(1, { ts: newest }));
    first.socket.close(1012);
    const second = await server.peer();
    stored.push(insight(2, { ts: newest - 9_000, session_id: 's2' }), insight(3, { ts: newest + 1 }));
    second.send({ status: 'subscribed' });
    expect(valuesOf(await take(3))).to.deep.equal([1, 2, 3]);
    expect(Date.parse(requests.at(-1)?.get('since') ?? '')).to.equal(newest - 10_000);
  });

  it('reads back further if a gateway could not publish for a while and others could', async () => {
    const first = await begun();
    const now = Date.now();
    stored = [0, 20, 40, 50].map((seconds, n) => insight(n, { ts: now + 1000 * seconds, session_id: 's2' }));
    const others = [10, 45, 60].map((seconds, n) => insight(9 + n, { ts: now + 1000 * seconds }));
    first.send(stored[0] as object);
    for (const one of others) first.send(one);
    stored = [...stored, ...others].sort((a, b) => a.ts - b.ts);
    first.socket.close(1012);
    await confirmed();
    expect(valuesOf(await take(7))).to.deep.equal([0, 9, 10, 11, 1, 2, 3]);
  });

  it('reads what a gateway published whose clock is far behind the clock of another one', async () => {
    const first = await subscribe();
    const now = Date.now();
    const late = lateSince(now);
    stored = [insight(0, { ts: now })];
    await begin(first);
    first.send(late(1));
    first.send(insight(2, { ts: now + 60_000 }));
    first.send(late(3));
    await comesBack(first, [late(1), late(3), late(4), ...stored, insight(2, { ts: now + 60_000 })]);
    expect(valuesOf(await take(4))).to.deep.equal([1, 2, 3, 4]);
  });

  it('reads what a gateway published whose clock is far behind what was stored at the start', async () => {
    const first = await subscribe();
    const now = Date.now();
    const late = lateSince(now);
    stored = [insight(0, { ts: now })];
    await begin(first);
    first.send(late(1));
    await comesBack(first, [late(1), late(2), ...stored]);
    expect(valuesOf(await take(2))).to.deep.equal([1, 2]);
  });

  it('reads it also if the first of that gateway came before the answer of what was stored', async () => {
    const { respond } = server;
    let answer = () => {};
    server.respond = (request, response) => {
      answer = () => respond(request, response);
    };
    const first = await subscribe();
    const now = Date.now();
    const late = lateSince(now);
    stored = [insight(0, { ts: now })];
    first.send({ status: 'subscribed' });
    await live.subscribed();
    first.send(late(1));
    while (live.buffered === 0) await new Promise((resolve) => setImmediate(resolve));
    server.respond = respond;
    answer();
    while (requests.length === 0) await new Promise((resolve) => setImmediate(resolve));
    await comesBack(first, [late(1), late(2), ...stored]);
    expect(valuesOf(await take(2))).to.deep.equal([1, 2]);
  });

  it('reports a gap if the clocks of gateways differ by more than a repair reads back', async () => {
    const holes: Hole[] = [];
    const first = await subscribe({ onHole: (hole) => holes.push(hole) });
    const now = Date.now();
    await begin(first);
    first.send(insight(1, { ts: now + 7_200_000, session_id: 's2' }));
    first.send(insight(2, { ts: now }));
    first.socket.close(1012);
    await confirmed();
    while (live.reconnects === 0) await new Promise((resolve) => setImmediate(resolve));
    expect(holes.map(({ cause }) => cause.message)).to.deep.equal(["the service's clocks differ by 7200000 ms"]);
    expect(holes[0]?.since).to.be.lessThan(holes[0]?.until ?? 0);
  });

  it('repairs again if new insights show that the clock of the service was set back meanwhile', async () => {
    const first = await subscribe();
    const now = Date.now();
    const later = (n: number) => insight(n, { ts: now - 1_800_000 + n, session_id: 's2' });
    await begin(first);
    first.send(insight(1, { ts: now }));
    first.socket.close(1012);
    const second = await server.peer();
    stored = [later(2), insight(1, { ts: now })];
    second.send({ status: 'subscribed' });
    while (live.reconnects === 0) await new Promise((resolve) => setImmediate(resolve));
    stored = [later(2), later(3), later(4), insight(1, { ts: now })];
    second.send(later(4));
    const third = await confirmed();
    third.send(later(5));
    expect(valuesOf(await take(5))).to.deep.equal([1, 2, 3, 4, 5]);
    expect(live.reconnects).to.equal(2);
  });

  it('gives nothing that is older than what it received first of a session and type', async () => {
    const first = await begun();
    const now = Date.now();
    const row = (n: number, changes: Partial<LiveInsight> = {}) => insight(n, { ts: now + n, ...changes });
    stored = [row(1), row(2, { type: 'rr' }), row(3), row(4), row(5, { session_id: 's2' })];
    for (const n of [2, 4]) first.send(stored[n] as object);
    first.socket.close(1012);
    await confirmed();
    expect(valuesOf(await take(4))).to.deep.equal([3, 5, 2, 4]);
  });

  for (const [direction, hours] of [
    ['back', -2],
    ['forward', 2],
  ] as const)
    it(`starts after the newest stored insight, even if the client's clock is set ${direction} before a loss`, async () => {
      let now = Date.now();
      const first = await subscribe({}, { clock: { now: () => now, after: systemClock.after } });
      stored = [insight(1, { ts: now - 3_600_000 }), insight(2, { ts: now })];
      await begin(first);
      first.socket.terminate();
      now += hours * 3_600_000;
      const second = await server.peer();
      stored.push(insight(3, { ts: (stored[1]?.ts ?? 0) + 1 }));
      second.send({ status: 'subscribed' });
      expect(valuesOf(await take(1))).to.deep.equal([3]);
    });

  it("needs no Date header, and does not follow a proxy's", async () => {
    const respond = server.respond;
    server.respond = (request, response) => {
      response.sendDate = false;
      response.setHeader('date', requests.length % 2 ? 'never' : new Date(Date.now() + 3_600_000).toUTCString());
      respond(request, response);
    };
    const first = await begun();
    first.socket.terminate();
    const second = await server.peer();
    stored = [insight(1, { ts: Date.now() })];
    second.send({ status: 'subscribed' });
    expect(valuesOf(await take(1))).to.deep.equal([1]);
  });

  it('misses nothing if the connection is lost before the service has said where it starts', async () => {
    const respond = server.respond;
    const asked = new Promise<void>((resolve) => {
      server.respond = (request, response) => {
        server.respond = respond;
        stored = [insight(0, { ts: 5 }), insight(1, { session_id: 's1' }), insight(1, { session_id: 's2' })];
        void server.peer().then((second) => {
          respond(request, response);
          second.send({ status: 'subscribed' });
        });
        resolve();
      };
    });
    const first = await subscribe();
    first.send({ status: 'subscribed' });
    await asked;
    first.socket.terminate();
    expect((await take(2)).map(({ session_id }) => session_id)).to.deep.equal(['s1', 's2']);
  });

  it('is live while the service cannot say where it starts, and misses nothing then', async () => {
    refusal = 503;
    const first = await begun({}, { retries: 0 });
    expect(live.state).to.equal('live');
    [refusal, stored] = [null, [insight(1)]];
    first.socket.terminate();
    const second = await server.peer();
    stored.push(insight(2));
    second.send({ status: 'subscribed' });
    expect(valuesOf(await take(2))).to.deep.equal([1, 2]);
  });

  it('leaves out rows that are newer than one that may still be stored before them', async () => {
    const now = Date.now();
    const [a, b, c] = [1, 2, 3].map((n) => insight(n, { ts: now + n }));
    const first = await begun();
    first.socket.terminate();
    const other = [4, 5, 6].map((n) => insight(n, { ts: now + 1, session_id: `s${n}` }));
    stored = [...other.slice(0, 3), b as LiveInsight];
    const respond = server.respond;
    // After the first page row `a`, which lies before the cursor, is written, and `b` after it.
    server.respond = (request, response) => {
      respond(request, response);
      if (requests.filter((query) => query.has('since')).length === 1)
        stored = [a as LiveInsight, ...other, b as LiveInsight, c as LiveInsight];
    };
    const second = await confirmed();
    for (const one of [a, b, c]) second.send(one as object);
    expect(valuesOf(await take(6)).filter((value) => value < 4)).to.deep.equal([1, 2, 3]);
  });

  it('neither ends nor loops for a time that is absurd, live or stored', async () => {
    const now = Date.now();
    const absurd = ['1e400', '1e300', '8e15', '-1e300', '"soon"', 'null', '{}'];
    const text = (ts: string) => JSON.stringify({ ...insight(9), ts: 0 }).replace('"ts":0', `"ts":${ts}`);
    const { respond } = server;
    server.respond = (request, response) => {
      const isFirst = requests.length % 2 === 0;
      if (!isFirst) return respond(request, response);
      requests.push(new URL(request.url ?? '', 'http://x').searchParams);
      const rows = [...absurd.map(text), ...stored.map((row) => JSON.stringify(row))];
      return response.writeHead(200, { 'content-type': 'application/json' }).end(`[${rows.join()}]`);
    };
    const first = await begun();
    for (const ts of absurd) first.socket.send(text(ts));
    first.send(insight(1, { ts: now + 1 }));
    expect(valuesOf(await take(1))).to.deep.equal([1]);
    await comesBack(first, [insight(1, { ts: now + 1 }), insight(2, { ts: now + 2 })]);
    expect(valuesOf(await take(1))).to.deep.equal([2]);
    while (live.state !== 'live') await new Promise((resolve) => setImmediate(resolve));
    expect(requests.length).to.be.lessThan(20);
  });

  it('is live, and reports a gap, after an insight of a far future', async () => {
    const holes: Hole[] = [];
    const now = Date.now();
    const first = await begun({ onHole: (hole) => holes.push(hole) });
    first.send(insight(1, { ts: Date.UTC(5000, 0), session_id: 's2' }));
    first.send(insight(2, { ts: now }));
    await comesBack(first, [insight(2, { ts: now })]);
    while (live.state !== 'live' || live.reconnects === 0) await new Promise((resolve) => setImmediate(resolve));
    expect(valuesOf(await take(2))).to.deep.equal([1, 2]);
    expect(holes).to.have.length(1);
  });

  it('reads no page twice that leads to itself, says so, and is live once the pages are right', async () => {
    const first = await begun();
    const { respond } = server;
    let asked = 0;
    server.respond = (_, response) => {
      asked++;
      const link = '</v1/insights?cursor=a>; rel="next"';
      response.writeHead(200, { 'content-type': 'application/json', link }).end('[]');
    };
    first.socket.terminate();
    await confirmed();
    const third = await server.peer();
    expect(String(live.lastError)).to.contain('the pages of the list repeat');
    expect(asked).to.be.lessThan(10);
    server.respond = respond;
    stored = [insight(1, { ts: Date.now() })];
    third.send({ status: 'subscribed' });
    expect(valuesOf(await take(1))).to.deep.equal([1]);
  });

  it('tries again on another connection if the service does not answer', async () => {
    const first = await begun({}, { retries: 0 });
    refusal = 500;
    first.socket.terminate();
    const second = await confirmed();
    second.send(insight(2, { ts: Date.now() + 1 }));
    const third = await server.peer();
    expect(live.lastError).to.include({ name: 'ApiError', status: 500 });
    refusal = null;
    stored = [insight(1, { ts: Date.now() }), insight(2, { ts: Date.now() + 1 })];
    third.send({ status: 'subscribed' });
    expect(valuesOf(await take(2))).to.deep.equal([1, 2]);
  });

  it('reports the gap that it could not repair, and continues', async () => {
    const holes: Hole[] = [];
    const first = await subscribe({ onHole: (hole) => holes.push(hole) });
    first.send({ status: 'subscribed' });
    await live.subscribed();
    refusal = 403;
    first.socket.terminate();
    const second = await confirmed();
    second.send(insight(2));
    expect(valuesOf(await take(1))).to.deep.equal([2]);
    expect(holes.map(({ cause }) => cause))
      .to.have.property('0')
      .that.includes({ name: 'ApiError', status: 403 });
  });

  it('reports the whole gap after the machine has slept, although the monotonic clock was paused', async () => {
    const [holes, hour]: [Hole[], number] = [[], 3_600_000];
    let now = Date.now();
    const clock = { now: () => now, after: systemClock.after };
    const first = await begun({ onHole: (hole) => holes.push(hole) }, { clock });
    first.send(insight(1, { ts: now }));
    expect(valuesOf(await take(1))).to.deep.equal([1]);
    refusal = 403;
    now += hour;
    first.socket.terminate();
    await confirmed();
    while (holes.length === 0) await new Promise((resolve) => setImmediate(resolve));
    expect(holes[0]).to.include({ until: now });
    expect(holes[0]?.since).to.be.at.most(now - hour);
  });

  it('reads what it missed once the page of a captive portal no longer answers in place of the service', async () => {
    const holes: Hole[] = [];
    const first = await begun({ onHole: (hole) => holes.push(hole) });
    const respond = server.respond;
    server.respond = (_, response) =>
      response.writeHead(403, { 'content-type': 'text/html' }).end('<form action="https://portal.example">');
    first.socket.terminate();
    stored = [insight(1, { ts: Date.now() })];
    await confirmed();
    const third = await server.peer();
    expect(String(live.lastError)).to.contain('not from the service (403, text/html)');
    server.respond = respond;
    third.send({ status: 'subscribed' });
    expect(valuesOf(await take(1))).to.deep.equal([1]);
    expect(holes).to.deep.equal([]);
  });

  it('buffers a limited number for a slow consumer, closes the socket, and continues from the store', async () => {
    const now = Date.now();
    const all = Array.from({ length: 20 }, (_, n) => insight(n, { ts: now + n }));
    const first = await subscribe({ buffer: 4 });
    const closed = new Promise((resolve) => first.socket.on('close', resolve));
    await begin(first);
    for (const one of all.slice(0, 10)) first.send(one);
    await closed;
    expect(live.buffered).to.be.at.most(4);
    stored = all.slice(0, 18);
    const insights = live[Symbol.asyncIterator]();
    const taken: number[] = [];
    const next = async () => taken.push((await insights.next()).value?.value ?? -1);
    for (let n = 0; n < 4; n++) await next();
    const second = await confirmed();
    for (const one of all.slice(16)) second.send(one);
    while (taken.length < 20) {
      expect(live.buffered).to.be.at.most(4);
      await next();
      if (live.reconnects > 1) break;
    }
    expect(taken).to.deep.equal(all.slice(0, taken.length).map(({ value }) => value));
    expect(taken.length).to.be.at.least(18);
  });

  it('connects again only when the slow consumer has read half of the buffer', async () => {
    const turn = () => new Promise((resolve) => setImmediate(resolve));
    let pauses = 0;
    const after = (ms: number, run: () => void) =>
      systemClock.after(ms, () => {
        run();
        if (ms === 0) pauses += 1;
      });
    const first = await begun({ buffer: 4 }, { clock: { ...systemClock, after } });
    for (let n = 0; n < 5; n++) first.send(insight(n));
    while (live.state !== 'waiting' || pauses === 0) await turn();
    const insights = live[Symbol.asyncIterator]();
    await insights.next();
    await turn();
    expect([live.state, live.buffered]).to.deep.equal(['waiting', 3]);
    await insights.next();
    await server.peer();
  });

  it('loses and repeats nothing over randomly broken connections, and keeps the order of each series', async () => {
    const random = new Random(5);
    pageRows = 1000;
    let peer = await subscribe({}, { retries: 0 });
    await begin(peer);
    const got: LiveInsight[] = [];
    const reading = (async () => {
      for await (const one of live) if (got.push(one) === 1500) break;
    })();
    let ts = Date.now();
    let away = 0;
    for (let n = 0; n < 1500; n++) {
      ts += random.uniform() < 0.5 ? 2 : 1;
      const one = insight(n, { ts, session_id: `s${n % 3}` });
      stored.push(one);
      if (away === 0) peer.send(one);
      else if (--away === 0) {
        peer = await server.peer();
        peer.send({ status: 'subscribed' });
      } else if (random.uniform() < 0.1) await new Promise((resolve) => setImmediate(resolve));
      if (away === 0 && random.uniform() < 0.03) {
        peer.socket.terminate();
        away = 1 + Math.floor(random.uniform() * 20);
      }
    }
    if (away > 0) await confirmed();
    await reading;
    expect([...valuesOf(got)].sort((a, b) => a - b)).to.deep.equal(Array.from({ length: 1500 }, (_, n) => n));
    for (const session of ['s0', 's1', 's2']) {
      const series = got.filter(({ session_id }) => session_id === session).map(({ ts: at }) => at);
      expect(series).to.deep.equal([...series].sort((a, b) => a - b));
    }
    expect(live.reconnects).to.be.greaterThan(20);
  });

  it('throws if the key is refused, after the insights that had arrived', async () => {
    const peer = await subscribe();
    peer.send({ status: 'subscribed' });
    peer.send(insight(1));
    peer.socket.close(4001, 'revoked');
    const got: number[] = [];
    const error = await (async () => {
      for await (const { value } of live) got.push(value);
    })().catch((caught: unknown) => caught);
    expect(got).to.deep.equal([1]);
    expect(error).to.be.instanceOf(ClosedError).and.include({ code: 4001 });
  });

  it('rejects the wait for the subscription if the key is refused, without repeating the key', async () => {
    (await subscribe()).socket.close(4001, 'no such key: svc_key');
    const error = await live.subscribed().catch((caught: unknown) => caught);
    expect(error).to.be.instanceOf(ClosedError);
    expect(String(error)).to.equal('ClosedError: the connection is closed (4001): no such key: …');
  });

  it('throws the reason when the signal aborts, as a call does, and closes its socket', async () => {
    const abort = new AbortController();
    const peer = await subscribe({ signal: abort.signal });
    const closed = new Promise((resolve) => peer.socket.on('close', resolve));
    peer.send({ status: 'subscribed' });
    await live.subscribed();
    abort.abort(new Error('enough'));
    expect(String(await take(1).catch((error: unknown) => error))).to.equal('Error: enough');
    expect(String(await live.subscribed().catch((error: unknown) => error))).to.equal('Error: enough');
    expect([await closed, live.state, live.lastError]).to.deep.equal([1000, 'closed', null]);
  });

  it('ends without an error after close()', async () => {
    await subscribe();
    live.close();
    expect(await take(1)).to.deep.equal([]);
  });

  it('gives each insight to one of two iterations, and ends neither', async () => {
    const peer = await subscribe();
    const values = [1, 2, 3].map((value) => insight(value));
    const all = Promise.all([take(1), take(2)]);
    peer.send({ status: 'subscribed' });
    for (const one of values) peer.send(one);
    expect(valuesOf((await all).flat()).sort()).to.deep.equal([1, 2, 3]);
  });

  it('ends when the service closes normally', async () => {
    const peer = await subscribe();
    peer.socket.close(1000);
    expect(await take(1)).to.deep.equal([]);
  });

  it('sends a ping every 30 s, and reconnects if it is not answered', async () => {
    const beat = heart();
    const peer = await subscribe({}, { clock: beat.clock, WebSocket, timeoutMs: 5000 });
    const pinged = new Promise((resolve) => peer.socket.on('ping', resolve));
    peer.send({ status: 'subscribed' });
    await live.subscribed();
    peer.socket.pong = () => {};
    beat.next();
    await pinged;
    beat.next();
    await server.peer();
    expect(requests).to.have.length(1);
  });

  describe('if the runtime has no pings', () => {
    let beat: ReturnType<typeof heart>;
    let peer: Peer;
    beforeEach(async () => {
      beat = heart();
      peer = await subscribe({}, { clock: beat.clock, WebSocket: PinglessSocket, retries: 0, timeoutMs: 5000 });
      await begin(peer);
    });

    /** Passes 30 s in silence; resolves when the service has been asked. */
    async function silence(): Promise<void> {
      const asked = requests.length + 1;
      beat.next();
      do await new Promise((resolve) => setImmediate(resolve));
      while (requests.length < asked && live.state === 'live');
    }

    it('is silent if nothing is published, and sends texts that keep proxies from closing', async () => {
      stored = [insight(1)];
      beat.next();
      await silence();
      await silence();
      expect(await peer.messages(3)).to.deep.equal(Array(3).fill('{"type":"ping"}'));
      peer.send(insight(2));
      expect(valuesOf(await take(1))).to.deep.equal([2]);
      expect(live.reconnects).to.equal(0);
    });

    it('counts a silent connection as lost if it missed an insight, and reads that', async () => {
      peer.send(insight(1, { ts: Date.now() }));
      expect((await live[Symbol.asyncIterator]().next()).value).to.include({ value: 1 });
      beat.next();
      stored = [insight(2, { ts: Date.now() + 1 })];
      await silence();
      await confirmed();
      expect(valuesOf(await take(1))).to.deep.equal([2]);
    });

    it('also notices it before the first insight', async () => {
      let again = false;
      const reconnected = server.peer().then(() => {
        again = true;
      });
      beat.next();
      for (let n = 0; !again; n++) {
        stored.push(insight(n));
        await Promise.race([silence(), reconnected]);
      }
    });

    it('counts a silent connection as lost if the service cannot be reached', async () => {
      beat.next();
      server.respond = (request) => request.socket.destroy();
      beat.next();
      await server.peer();
    });

    it('counts a silent connection as lost if the key is no longer valid, and ends with the refusal', async () => {
      refusal = 401;
      beat.next();
      await silence();
      beat.next();
      (await server.peer()).socket.close(4001, 'expired');
      const error = await take(1).catch((caught: unknown) => caught);
      expect(error).to.be.instanceOf(ClosedError).with.property('code', 4001);
    });

    it('stays connected if the key may not read', async () => {
      refusal = 403;
      beat.next();
      await silence();
      await silence();
      peer.send(insight(1));
      expect(valuesOf(await take(1))).to.deep.equal([1]);
    });
  });
});

/** A browser's WebSocket has no ping. */
class PinglessSocket extends WebSocket {
  override ping = undefined as never;
}

/** The system's clock, whose timers of 30 s are run by the test. */
function heart() {
  const due: (() => void)[] = [];
  const after: typeof systemClock.after = (ms, run) => {
    if (ms !== 30_000) return systemClock.after(ms, run);
    due.push(run);
    return () => {};
  };
  return { clock: { now: systemClock.now, after }, next: () => due.shift()?.() };
}
