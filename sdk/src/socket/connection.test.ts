import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { DeviceInsights } from '../client.js';
import type { Clock } from '../clock.js';
import { ready } from '../device/ready.fixture.js';
import { ConnectionError } from '../rest/api-error.js';
import { type ConnectionStatus, PING } from './connection.js';
import type { Socket, SocketConstructor } from './socket.js';
import { SocketServer } from './socket-server.fixture.js';

const NAMES = { deviceId: 'band-1', deviceModelId: 'model-1' };
const INSIGHT = {
  ...{ type: 'hr', value: 72, unit: 'bpm', session_id: 's1', device_id: 'd1' },
  ...{ confidence: 1, sqi_class: 'excellent' },
};
const READY = ready({ channels: [] });

describe('state of a connection', () => {
  const closing: (() => unknown)[] = [];
  let told: ConnectionStatus[];
  const onStatus = (status: ConnectionStatus) => told.push(status);
  const states = () => told.map(({ state }) => state);
  beforeEach(() => {
    told = [];
  });
  afterEach(async () => {
    while (closing.length > 0) await closing.pop()?.();
  });

  const clientOf = (baseUrl: string) =>
    new DeviceInsights({ baseUrl, apiKey: 'svc_key', backoff: { random: () => 0.1 } });

  /** A plain HTTP server, which refuses WebSockets. */
  async function otherServer(respond: RequestListener): Promise<string> {
    const server: Server = createServer(respond);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    closing.push(
      () => server.closeAllConnections(),
      () => server.close(),
    );
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  /** An address where nothing listens. */
  async function deadAddress(): Promise<string> {
    const url = await otherServer(() => {});
    while (closing.length > 0) closing.pop()?.();
    return url;
  }

  async function start(): Promise<SocketServer> {
    const server = new SocketServer();
    closing.push(() => server.close());
    server.respond = (_, response) => response.writeHead(200, { 'content-type': 'application/json' }).end('[]');
    return server;
  }

  const caught = (promise: Promise<unknown>) => promise.catch((error: unknown) => error);
  /** Waits for a change of state. */
  async function until(condition: () => boolean): Promise<void> {
    while (!condition()) await new Promise((resolve) => setImmediate(resolve));
  }

  /** The first status that was told as waiting. */
  async function waiting(): Promise<ConnectionStatus> {
    const find = () => told.find(({ state }) => state === 'waiting');
    await until(() => find() !== undefined);
    return find() as ConnectionStatus;
  }

  describe('of a subscription', () => {
    it('is live, waits after a loss with its error and the time of the next attempt, repairs, and is closed', async () => {
      const server = await start();
      const live = clientOf(await server.url()).live.subscribe({ onStatus });
      expect(live.state).to.equal('connecting');
      const first = await server.peer();
      first.send({ status: 'subscribed' });
      await live.subscribed();
      first.socket.close(1012, 'restart');
      const { error, nextTryAt } = await waiting();
      expect(error?.message).to.equal('the connection was lost (1012: restart)');
      expect(nextTryAt)
        .to.be.greaterThan(Date.now() - 60_000)
        .and.at.most(Date.now() + 50);
      expect(live.reconnects).to.equal(0);
      (await server.peer()).send({ status: 'subscribed' });
      await until(() => live.state === 'live');
      expect([live.lastError, live.nextTryAt, live.reconnects]).to.deep.equal([null, null, 1]);
      live.close();
      expect(states()).to.deep.equal(['live', 'waiting', 'connecting', 'repairing', 'live', 'closed']);
    });

    it('reports at once that the service is unreachable, and ends with an error after the time limit', async () => {
      const address = await deadAddress();
      const live = clientOf(address).live.subscribe({ onStatus, connectWithinMs: 200 });
      expect((await waiting()).error?.message).to.equal(`the service at ${address} cannot be reached`);
      const error = await caught(live.subscribed());
      expect(error).to.be.instanceOf(ConnectionError);
      expect(String(error)).to.contain('no connection within 200 ms').and.contain('cannot be reached');
      expect(await caught(live[Symbol.asyncIterator]().next())).to.equal(error);
      expect([live.state, live.reconnects]).to.deep.equal(['closed', 0]);
    });

    it('ends at once if something other than the service answers', async () => {
      const address = await otherServer((_, response) => response.writeHead(404).end('no'));
      const live = clientOf(`${address}/insights`).live.subscribe({ onStatus });
      expect(String(await caught(live.subscribed()))).to.contain(
        `GET ${address}/insights/v1/stream/health: the answer is not from the service (404,`,
      );
      expect(states()).to.deep.equal(['closed']);
    });

    it('says where the address redirects to, as from http to https', async () => {
      const location = 'https://insights.example/';
      const address = await otherServer((_, response) => response.writeHead(301, { location }).end());
      const live = clientOf(address).live.subscribe({ onStatus });
      expect(String(await caught(live.subscribed()))).to.contain(`not from the service (a redirect to ${location})`);
    });

    it('names a proxy that passes on requests but no WebSocket', async () => {
      const address = await otherServer((_, response) =>
        response.writeHead(200, { 'content-type': 'application/json' }).end('{"ok":true}'),
      );
      const live = clientOf(address).live.subscribe({ onStatus });
      closing.push(() => live.close());
      expect((await waiting()).error?.message).to.contain('does not forward Upgrade');
    });
  });

  describe('of a device', () => {
    it('is live, waits after a loss, counts connections after the first, and is closed', async () => {
      const server = await start();
      const device = clientOf(await server.url()).device({ ...NAMES, onStatus });
      const first = await server.peer();
      first.send(READY);
      await device.ready();
      expect(device.state).to.equal('live');
      first.socket.close(1012);
      expect((await waiting()).error?.message).to.equal('the connection was lost (1012)');
      expect(device.counters.reconnects).to.equal(0);
      (await server.peer()).send(READY);
      await until(() => device.state === 'live');
      expect(device.counters.reconnects).to.equal(1);
      device.close();
      expect(states()).to.deep.equal(['live', 'waiting', 'connecting', 'live', 'closed']);
    });

    it('rejects the wait for an unreachable service, keeps trying, and connects when the service starts', async () => {
      const address = await deadAddress();
      const device = clientOf(address).device({ ...NAMES, onStatus, connectWithinMs: 100 });
      closing.push(() => device.close());
      const error = await caught(device.ready());
      expect(String(error)).to.contain('no connection within 100 ms').and.contain('cannot be reached');
      expect(device.state).not.to.equal('closed');
      const server = await start();
      await server.url(Number(new URL(address).port));
      (await server.peer()).send(READY);
      await until(() => device.state === 'live');
      expect((await device.ready()).session_id).to.equal('s1');
      expect(device.counters.reconnects).to.equal(0);
    });

    it('rejects the wait at once if something else answers', async () => {
      const address = await otherServer((_, response) => response.writeHead(200).end('<p>Welcome to the hotel'));
      const device = clientOf(address).device({ ...NAMES, onStatus });
      closing.push(() => device.close());
      expect(String(await caught(device.ready()))).to.contain(
        'the answer is not from the service (200, no content type)',
      );
      expect(device.state).not.to.equal('closed');
    });
  });
});

describe('a connection to a service that is silent', () => {
  /** Timers that the test runs, by their time. */
  let due: { readonly ms: number; readonly run: () => void }[];
  let sockets: FakeSocket[];
  const clock: Clock = {
    now: () => 0,
    after: (ms, run) => {
      const timer = { ms, run };
      due.push(timer);
      return () => {
        due = due.filter((one) => one !== timer);
      };
    },
  };
  /** Runs the timers of this length; fails if there are none. */
  const pass = (ms: number) => {
    const timers = due.filter((timer) => timer.ms === ms);
    expect(timers).not.to.deep.equal([]);
    due = due.filter((timer) => timer.ms !== ms);
    for (const { run } of timers) run();
  };
  const turn = () => new Promise((resolve) => setImmediate(resolve));

  /** A socket that is open at once; what is done with it is in `ends` and `sent`. */
  class FakeSocket implements Socket {
    binaryType = '';
    readyState = 1;
    onopen = null;
    onmessage: ((event: never) => void) | null = null;
    onclose: ((event: never) => void) | null = null;
    onerror = null;
    readonly sent: unknown[] = [];
    readonly ends: unknown[] = [];
    constructor() {
      sockets.push(this);
    }
    send(data: unknown): void {
      this.sent.push(data);
    }
    close(code?: number): void {
      this.ends.push(code);
    }
    terminate(): void {
      this.ends.push('terminate');
    }
    receive(message: object): void {
      this.onmessage?.({ data: JSON.stringify(message) } as never);
    }
  }
  /** React Native's socket sends pings and hides their answers. */
  class NativeSocket extends FakeSocket {
    ping(): void {
      this.sent.push('ping');
    }
  }

  /** Answers of REST, in turn; the last one again and again. */
  let stored: number[];
  const client = (WebSocket: SocketConstructor) =>
    new DeviceInsights({
      baseUrl: 'http://service.example',
      apiKey: 'svc_key',
      clock,
      WebSocket,
      fetch: async () => {
        const ts = stored.length > 1 ? stored.shift() : stored[0];
        return Response.json([{ ...INSIGHT, ts }], { headers: { 'content-type': 'application/json' } });
      },
    });

  beforeEach(() => {
    [due, sockets, stored] = [[], [], [5]];
  });

  it('is given up if the service does not answer its close', async () => {
    const live = client(FakeSocket).live.subscribe();
    await turn();
    live.close();
    expect(sockets[0]?.ends).to.deep.equal([1000]);
    pass(3000);
    await turn();
    expect(sockets[0]?.ends).to.deep.equal([1000, 'terminate']);
    expect(due).to.deep.equal([]);
  });

  it('is not given up for a ping whose answer cannot be heard, as in React Native', async () => {
    const live = client(NativeSocket).live.subscribe();
    await turn();
    sockets[0]?.receive({ status: 'subscribed' });
    for (let n = 0; n < 3; n++) {
      pass(30_000);
      await turn();
    }
    expect([live.state, sockets[0]?.ends, sockets[0]?.sent]).to.deep.equal(['live', [], Array(3).fill(PING)]);
    live.close();
  });

  it('is kept if a message arrives while it asks whether it has missed one', async () => {
    const live = client(FakeSocket).live.subscribe();
    await turn();
    sockets[0]?.receive({ status: 'subscribed' });
    sockets[0]?.receive({ ...INSIGHT, ts: 10 });
    await turn();
    stored = [20];
    pass(30_000);
    pass(30_000);
    sockets[0]?.receive({ ...INSIGHT, ts: 20 });
    for (let n = 0; n < 5; n++) await turn();
    expect([live.state, sockets[0]?.ends]).to.deep.equal(['live', []]);
    stored = [30];
    pass(30_000);
    pass(30_000);
    for (let n = 0; n < 5; n++) await turn();
    expect([live.state, sockets[0]?.ends]).to.deep.equal(['waiting', ['terminate']]);
    live.close();
  });

  it('of a device sends pings, is kept while data arrive, and is given up without a handshake when none do', async () => {
    const device = client(FakeSocket).device(NAMES);
    await turn();
    sockets[0]?.receive(READY);
    pass(15_000);
    sockets[0]?.receive({ type: 'pong' });
    pass(15_000);
    expect([sockets[0]?.sent, sockets[0]?.ends]).to.deep.equal([[PING, PING], []]);
    pass(15_000);
    await turn();
    expect(sockets[0]?.ends).to.deep.equal(['terminate']);
    expect(device.lastError?.message).to.equal('the connection was lost (1006: the service sends nothing)');
    device.close();
    await turn();
    expect(due).to.deep.equal([]);
  });
});
