import { expect } from 'chai';
import { type LiveOptions, LiveSubscription } from './live.js';
import { ClosedError } from './reconnection.js';
import { type Peer, SocketServer } from './test-socket-server.js';

const insight = (value: number, changes: object = {}) => ({
  type: 'hr',
  value,
  unit: 'bpm',
  ts: 1000 + value,
  session_id: 's1',
  device_id: 'd1',
  confidence: 0.9,
  sqi_class: 'excellent',
  ...changes,
});

describe('live subscription', () => {
  let server: SocketServer;
  let live: LiveSubscription;
  beforeEach(() => {
    server = new SocketServer();
  });
  afterEach(async () => {
    live.close();
    await server.close();
  });

  async function subscribe(options: Partial<LiveOptions> = {}): Promise<Peer> {
    live = new LiveSubscription({
      baseUrl: await server.url(),
      apiKey: 'svc_key',
      backoff: { random: () => 0 },
      ...options,
    });
    return server.peer();
  }

  async function take(count: number): Promise<number[]> {
    const values: number[] = [];
    const insights = live[Symbol.asyncIterator]();
    while (values.length < count) {
      const { value, done } = await insights.next();
      if (done) break;
      values.push(value.value);
    }
    return values;
  }

  it('brings its key, discards the status and gives the insights in order', async () => {
    const peer = await subscribe();
    expect(peer.query.get('api_key')).to.equal('svc_key');
    expect(live.connected).to.equal(false);
    peer.send({ status: 'subscribed' });
    await live.subscribed();
    for (const value of [61, 62, 63]) peer.send(insight(value));
    expect(await take(3)).to.deep.equal([61, 62, 63]);
  });

  it('ignores types that it does not know and whatever is no insight', async () => {
    const peer = await subscribe();
    peer.send({ status: 'subscribed' });
    peer.send(insight(1, { type: 'glucose' }));
    peer.socket.send('not JSON');
    peer.send([]);
    peer.send(insight(2));
    expect(await take(1)).to.deep.equal([2]);
  });

  it('comes back after a restart and after a lost connection', async () => {
    const first = await subscribe();
    first.send({ status: 'subscribed' });
    first.send(insight(1));
    first.socket.close(1012);
    const second = await server.peer();
    second.send({ status: 'subscribed' });
    second.send(insight(2));
    await new Promise((resolve) => second.socket.send(JSON.stringify(insight(3)), resolve));
    second.socket.terminate();
    const third = await server.peer();
    third.send({ status: 'subscribed' });
    third.send(insight(4));
    const values = await take(3);
    expect([values[0], values.at(-1)]).to.deep.equal([1, values.includes(3) ? 3 : 4]);
    expect(live.reconnects).to.equal(2);
  });

  it('throws where the key is refused, after what had come', async () => {
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

  it('rejects the wait for the subscription where the key is refused', async () => {
    (await subscribe()).socket.close(4001);
    expect(await live.subscribed().catch((caught: unknown) => caught)).to.be.instanceOf(ClosedError);
  });

  it('ends when the signal aborts, and closes its socket', async () => {
    const abort = new AbortController();
    const peer = await subscribe({ signal: abort.signal });
    const closed = new Promise((resolve) => peer.socket.on('close', resolve));
    peer.send({ status: 'subscribed' });
    await live.subscribed();
    abort.abort();
    expect(await take(1)).to.deep.equal([]);
    expect(await closed).to.equal(1000);
  });

  it('ends when the service closes normally', async () => {
    const peer = await subscribe();
    peer.socket.close(1000);
    expect(await take(1)).to.deep.equal([]);
  });

  it('pings every 30 s', async () => {
    const due: (() => void)[] = [];
    const waits: number[] = [];
    const after = (ms: number, run: () => void) => {
      waits.push(ms);
      due.push(run);
      return () => {};
    };
    const peer = await subscribe({ clock: { now: () => 0, after } });
    const pinged = new Promise((resolve) => peer.socket.on('ping', resolve).on('message', resolve));
    peer.send({ status: 'subscribed' });
    await live.subscribed();
    due.shift()?.();
    await pinged;
    expect(waits).to.deep.equal([30_000, 30_000]);
  });
});
