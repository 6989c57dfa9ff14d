import { createHash } from 'node:crypto';
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { expect } from 'chai';
import { WebSocket } from 'ws';
import { type Bus, type BusListener, type BusMessage, BusUnavailable } from './bus/bus.js';
import { createMemoryBus } from './bus/memory.js';
import { serve, TestClient, TestKeys } from './client.fixture.js';
import { Fanout, type FanoutOptions } from './fanout.js';
import { holderWith } from './keys/holder.fixture.js';
import { portOf } from './platform/http-server.js';
import { silentLog } from './platform/log.fixture.js';
import { ManualClock } from './platform/manual-clock.fixture.js';
import { PING, Raw, strangersUpgrade, upgradeOf } from './platform/raw.fixture.js';
import { until } from './platform/until.fixture.js';
import { CLOSE_GRACE_MS } from './subscriber.js';

const STATUS = '{"status":"subscribed"}';
const KEY = `svc_${'a'.repeat(32)}`;
const OTHER_KEY = `svc_${'b'.repeat(32)}`;
const ANNA_KEY = `svc_${'c'.repeat(32)}`;
const hash = (key: string) => createHash('sha256').update(key).digest('hex');
const message = (text: string, user: string | null = null): BusMessage => ({ text, user });

describe('subscriber sockets', () => {
  let bus: Bus;
  let keys: TestKeys;
  let clock: ManualClock;
  let fanout: Fanout;
  let server: Server;
  let url: string;
  let clients: TestClient[];

  /** Serves a fan-out with these options, in place of the usual one. */
  async function start(options: Partial<FanoutOptions> = {}): Promise<void> {
    server?.close();
    fanout = new Fanout({ bus, keys, log: silentLog, clock, ...options });
    ({ server, url } = await serve(fanout));
  }

  function connect(key: string | null = KEY): TestClient {
    const client = new TestClient(key === null ? url : `${url}?api_key=${key}`);
    clients.push(client);
    return client;
  }

  async function subscribe(key = KEY): Promise<TestClient> {
    const client = connect(key);
    await client.count(1);
    return client;
  }

  beforeEach(async () => {
    bus = createMemoryBus();
    clock = new ManualClock();
    keys = new TestKeys();
    clients = [];
    keys.holders.set(hash(KEY), holderWith('one'));
    keys.holders.set(hash(OTHER_KEY), holderWith('two'));
    keys.holders.set(hash(ANNA_KEY), holderWith('one', { user: 'anna' }));
    await start();
  });

  afterEach(async () => {
    for (const { ws } of clients) ws.terminate();
    await until(() => fanout.connections === 0);
    server.close();
    await bus.close();
  });

  describe('with thousands at once', () => {
    const THOUSANDS = 3000;
    const turnOfTheEventLoop = () => new Promise((resolve) => setImmediate(resolve));
    const { now } = performance;
    let ms = 0;

    // Turns end by this clock, so that the number of steps in a turn does not depend on the machine.
    beforeEach(() => {
      performance.now = () => {
        ms += 0.01;
        return ms;
      };
    });
    afterEach(() => {
      performance.now = now;
    });

    it('accepts connections in turns, so that others are served meanwhile', async () => {
      const strangers = Array.from({ length: THOUSANDS }, () => strangersUpgrade());
      const refused = () => fanout.counters.refused.get('authenticationFailed') ?? 0;
      for (const stranger of strangers) fanout.handleUpgrade(...stranger);
      expect(refused()).to.equal(0);
      await turnOfTheEventLoop();
      expect(refused()).to.be.within(1, THOUSANDS - 1);
      await until(() => refused() === THOUSANDS);
      for (const [, socket] of strangers) socket.destroy();
    });

    it('closes and cuts off subscribers in turns, so that others are served meanwhile', async () => {
      const silent = Array.from({ length: THOUSANDS }, () => strangersUpgrade(`/?api_key=${KEY}`));
      for (const upgrade of silent) fanout.handleUpgrade(...upgrade);
      await until(() => fanout.connections === THOUSANDS);
      const cutOff = () => silent.filter(([, socket]) => socket.destroyed).length;
      keys.revoke(hash(KEY));
      clock.advance(CLOSE_GRACE_MS);
      expect(cutOff()).to.equal(0);
      await until(() => cutOff() > 0);
      expect(cutOff()).to.be.lessThan(THOUSANDS);
      await until(() => cutOff() === THOUSANDS);
    });
  });

  describe('admission', () => {
    it('sends {"status":"subscribed"} first and then the insights, unchanged and in order', async () => {
      const client = await subscribe();
      const texts = [
        '{"type":"hr","value":72.5}',
        '{"type":"spo2","unit":"%","device_id":"ä"}',
        `{"pad":"${'x'.repeat(70_000)}"}`,
      ];
      await bus.publish(
        'one',
        texts.map((text) => message(text)),
      );
      await client.count(4);
      expect(client.texts).to.deep.equal([STATUS, ...texts]);
    });

    it('closes with 4001 if the key is missing, malformed or unknown', async () => {
      for (const key of [null, '', 'svc_', 'nonsense', `svc_${'z'.repeat(32)}`]) {
        expect(await connect(key).closed).to.include({ code: 4001 });
      }
    });

    it('logs the address of a client whose key is refused', async () => {
      const lines: unknown[] = [];
      await start({ log: { ...silentLog, warn: (...line) => void lines.push(line) } });
      const ws = new WebSocket(`${url}?api_key=svc_${'z'.repeat(32)}`, {
        headers: { 'X-Forwarded-For': '203.0.113.9' },
      });
      expect(await new Promise((resolve) => ws.on('close', resolve))).to.equal(4001);
      expect(lines).to.deep.equal([[{ address: '203.0.113.9', keyPrefix: 'svc_zzzz' }, 'an API key was refused']]);
    });

    it('reads the key only from the query parameter, not from a header', async () => {
      const ws = new WebSocket(url, { headers: { Authorization: `Bearer ${KEY}` } });
      const code = await new Promise((resolve) => ws.on('close', resolve));
      expect(code).to.equal(4001);
    });

    it('keeps no place among the waiting for those that it has refused, so that they keep nobody out', async () => {
      const strangers = Array.from({ length: 5000 }, () => strangersUpgrade());
      for (const stranger of strangers) fanout.handleUpgrade(...stranger);
      await subscribe();
      for (const [, socket] of strangers) socket.destroy();
    });

    it('closes with 1013 if the key cannot be checked now, and logs each', async () => {
      const said: string[] = [];
      await start({ log: { ...silentLog, warn: (_fields, text) => said.push(text) } });
      keys.answer = () => Promise.reject(new Error('store down'));
      for (const client of Array.from({ length: 20 }, () => connect()))
        expect(await client.closed).to.deep.equal({
          code: 1013,
          reason: 'the subscriber could not be admitted now; try again',
        });
      const line = 'subscriber refused for now: the key check or the bus is not available';
      expect(said).to.deep.equal(Array(20).fill(line));
    });

    it('sends nothing and closes with 1013 if the subscription is not confirmed within 5 s', async () => {
      let asked = 0;
      const never = () => {
        asked += 1;
        return new Promise<never>(() => undefined);
      };
      await start({ bus: { subscribe: never } });
      const client = connect();
      await until(() => asked === 1);
      clock.advance(4999);
      expect(client.ws.readyState).to.not.equal(WebSocket.CLOSED);
      clock.advance(1);
      expect(await client.closed).to.include({ code: 1013 });
      expect(client.texts).to.deep.equal([]);
    });

    it('sends the status only after the subscription is confirmed', async () => {
      let confirm: () => void = () => undefined;
      const gate = new Promise<void>((resolve) => {
        confirm = resolve;
      });
      const slow: FanoutOptions['bus'] = {
        subscribe: async (account, listener) => {
          await gate;
          return bus.subscribe(account, listener);
        },
      };
      await start({ bus: slow });
      const client = connect();
      await new Promise((resolve) => client.ws.once('open', resolve));
      const pong = new Promise((resolve) => client.ws.once('pong', resolve));
      client.ws.ping();
      await pong;
      expect(client.texts).to.deep.equal([]);
      confirm();
      await client.count(1);
      expect(client.texts).to.deep.equal([STATUS]);
    });

    it('closes with 1013 if the bus refuses the subscription, and admits again once it is back', async () => {
      let down = true;
      const flaky: FanoutOptions['bus'] = {
        subscribe: (account, listener) =>
          down ? Promise.reject(new BusUnavailable('down')) : bus.subscribe(account, listener),
      };
      await start({ bus: flaky });
      expect(await connect().closed).to.include({ code: 1013 });
      down = false;
      expect((await subscribe()).texts).to.deep.equal([STATUS]);
    });

    it('closes with 4001 if the key is revoked while it is being checked', async () => {
      let answer: () => void = () => undefined;
      keys.answer = () =>
        new Promise((resolve) => {
          answer = () => resolve(holderWith('one'));
        });
      const client = connect();
      await until(() => fanout.connections === 1);
      keys.revoke(hash(KEY));
      answer();
      expect(await client.closed).to.include({ code: 4001 });
      expect(client.texts).to.deep.equal([]);
    });
  });

  describe('scope', () => {
    it('gives every subscriber of an account every insight, and other accounts none', async () => {
      const [first, second, other] = [await subscribe(), await subscribe(), await subscribe(OTHER_KEY)];
      await bus.publish('one', [message('a')]);
      await bus.publish('two', [message('b')]);
      await Promise.all([first.count(2), second.count(2), other.count(2)]);
      expect([first, second, other].map((client) => client.texts[1])).to.deep.equal(['a', 'a', 'b']);
    });

    it('gives the key of a user only the insights of the sessions of that user', async () => {
      const [all, anna] = [await subscribe(), await subscribe(ANNA_KEY)];
      await bus.publish('one', [message('1', 'anna'), message('2', 'bert'), message('3'), message('4', 'anna')]);
      await Promise.all([all.count(5), anna.count(3)]);
      expect(all.texts).to.deep.equal([STATUS, '1', '2', '3', '4']);
      expect(anna.texts).to.deep.equal([STATUS, '1', '4']);
    });

    it('counts every subscriber of every message as delivered, dropped or filtered', async () => {
      const [all, anna] = [await subscribe(), await subscribe(ANNA_KEY)];
      await bus.publish('one', [message('1', 'anna'), message('2', 'bert')]);
      await Promise.all([all.count(3), anna.count(2)]);
      expect(fanout.counters).to.deep.include({ connected: 4, delivered: 3, filtered: 1, dropped: 0 });
    });

    it('counts messages as dropped if their socket is lost, also before its close event', async () => {
      const sockets: Socket[] = [];
      server.on('connection', (socket) => sockets.push(socket));
      const [gone, stays] = [await subscribe(), await subscribe()];
      await bus.publish('one', [message('a')]);
      sockets[0]?.destroy();
      await Promise.all([gone.closed, stays.count(2)]);
      expect(fanout.counters).to.deep.include({ connected: 2, delivered: 1, dropped: 1 });
    });

    it('gives a new subscriber nothing that was published before it was told that it is subscribed', async () => {
      const first = await subscribe();
      keys.answer = async () => {
        await bus.publish('one', [message('1')]);
        return holderWith('one');
      };
      const second = await subscribe();
      await bus.publish('one', [message('2')]);
      await Promise.all([first.count(3), second.count(2)]);
      expect([first.texts, second.texts]).to.deep.equal([
        [STATUS, '1', '2'],
        [STATUS, '2'],
      ]);
    });

    it('serves those who remain, in whatever order the others leave', async () => {
      const all = [await subscribe(), await subscribe(), await subscribe(), await subscribe()];
      const remaining = new Set(all);
      for (const leaver of [all[0], all[3], all[1]]) {
        if (leaver) remaining.delete(leaver);
        leaver?.ws.close(1000);
        await until(() => fanout.connections === remaining.size);
        await bus.publish('one', [message(`to ${remaining.size}`)]);
        for (const client of remaining) await client.count(1 + all.length - remaining.size);
      }
      expect(all[2]?.texts).to.deep.equal([STATUS, 'to 3', 'to 2', 'to 1']);
    });

    it('counts a key as in use while it has a subscriber', async () => {
      const [first, second] = [await subscribe(), await subscribe()];
      const other = await subscribe(OTHER_KEY);
      expect(keys.inUse).to.have.members([hash(KEY), hash(OTHER_KEY)]);
      for (const client of [first, second]) client.ws.close(1000);
      await until(() => fanout.connections === 1);
      expect(keys.inUse).to.deep.equal([hash(OTHER_KEY)]);
      other.ws.close(1000);
    });

    it('holds one upstream subscription for each account, and only while it has a listener', async () => {
      let [opened, cancelled] = [0, 0];
      const counting: FanoutOptions['bus'] = {
        subscribe: async (account, listener) => {
          opened += 1;
          const subscription = await bus.subscribe(account, listener);
          return {
            cancel: () => {
              cancelled += 1;
              subscription.cancel();
            },
          };
        },
      };
      await start({ bus: counting });
      const pair = await Promise.all([subscribe(), subscribe()]);
      const anna = await subscribe(ANNA_KEY);
      expect([opened, cancelled]).to.deep.equal([1, 0]);
      for (const client of [...pair, anna]) client.ws.close(1000);
      await until(() => fanout.connections === 0);
      expect([opened, cancelled]).to.deep.equal([1, 1]);
      await subscribe();
      expect([opened, cancelled]).to.deep.equal([2, 1]);
    });
  });

  describe('an open socket', () => {
    it('is not compressed, whatever its client offers', async () => {
      const client = new TestClient(`${url}?api_key=${KEY}`, { perMessageDeflate: true });
      clients.push(client);
      await client.count(1);
      expect(client.ws.extensions).to.equal('');
    });

    it('gets a pong for its ping, and never a ping', async () => {
      const client = await subscribe();
      let pings = 0;
      client.ws.on('ping', () => {
        pings += 1;
      });
      clock.advance(24 * 3600_000);
      const pong = new Promise((resolve) => client.ws.once('pong', (data) => resolve(String(data))));
      client.ws.ping('here?');
      expect(await pong).to.equal('here?');
      expect(pings).to.equal(0);
    });

    it('is read and ignored up to 4 KiB a message, and closed with 1009 beyond', async () => {
      const client = await subscribe();
      client.ws.send('x'.repeat(4096));
      client.ws.send(Buffer.alloc(4096));
      await bus.publish('one', [message('still here')]);
      await client.count(2);
      client.ws.send('x'.repeat(4097));
      expect(await client.closed).to.include({ code: 1009, reason: 'a message is larger than 4096 bytes' });
    });

    it('is closed with 4001 when its key is revoked, and others stay open', async () => {
      const [one, other] = [await subscribe(), await subscribe(OTHER_KEY)];
      keys.revoke(hash(KEY));
      expect(await one.closed).to.include({ code: 4001 });
      await bus.publish('two', [message('a')]);
      await other.count(2);
    });

    it('is closed with 4001 within a second after the expiry of its key by the wall clock, and others stay open', async () => {
      keys.holders.set(hash(KEY), holderWith('one', { expiresAt: 60_000 }));
      keys.holders.set(hash(ANNA_KEY), holderWith('one', { user: 'anna', expiresAt: 3_600_000 }));
      const [one, same, anna, other] = [
        await subscribe(),
        await subscribe(),
        await subscribe(ANNA_KEY),
        await subscribe(OTHER_KEY),
      ];
      clock.step(59_000);
      clock.advance(1000);
      for (const client of [one, same]) expect(await client.closed).to.include({ code: 4001 });
      clock.step(-10_000_000);
      clock.advance(2000);
      await until(() => fanout.connections === 2);
      clock.step(20_000_000);
      clock.advance(1000);
      expect(await anna.closed).to.include({ code: 4001 });
      await bus.publish('two', [message('a')]);
      await other.count(2);
    });

    it('is answered with 1000 when it closes cleanly', async () => {
      const client = await subscribe();
      client.ws.close(1000);
      expect(await client.closed).to.include({ code: 1000 });
    });

    it('survives invalid frames without an effect on other sockets', async () => {
      const [neighbour, broken] = [await subscribe(), await subscribe()];
      (broken.ws as unknown as { _socket: NodeJS.WritableStream })._socket.write(Buffer.from('ffffffffff', 'hex'));
      expect(await broken.closed).to.include({ code: 1002 });
      await bus.publish('one', [message('a')]);
      await neighbour.count(2);
    });
  });

  describe('a peer that sends unexpected data', () => {
    it('is closed with 1008 if a message has more than 16 fragments', async () => {
      const [one, other] = [await subscribe(), await subscribe()];
      for (let n = 0; n < 17; n++) {
        one.ws.send('x', { fin: false });
        if (n < 16) other.ws.send('x', { fin: n === 15 });
      }
      expect(await one.closed).to.include({ code: 1008 });
      other.ws.ping();
      await once(other.ws, 'pong');
    });

    it('is closed with 1013 and the cause if a message does not end within 10 s, but not for several shorter ones in turn', async () => {
      const [one, other] = [await subscribe(), await subscribe()];
      for (const { ws } of [one, other]) await begin(ws);
      clock.advance(10_000);
      other.ws.send('y');
      await begin(other.ws);
      clock.advance(1000);
      expect(await one.closed).to.deep.equal({ code: 1013, reason: 'a message took longer than 10 s' });
      clock.advance(9000);
      other.ws.ping();
      await once(other.ws, 'pong');
    });

    /** Sends the beginning of a message; resolves once it has been read. */
    async function begin(ws: WebSocket): Promise<void> {
      ws.send('x', { fin: false });
      ws.ping();
      await once(ws, 'pong');
    }

    /** Sends a ping; resolves once it and all before it have been read. */
    async function answered(ws: WebSocket, text: string): Promise<void> {
      await new Promise<void>((resolve) => {
        ws.on('pong', (data) => String(data) === text && resolve());
        ws.ping(text);
      });
    }

    it('is closed with 4000 and the cause after more than 100 frames of any kind in a second', async () => {
      const kinds: ((client: TestClient) => void)[] = [
        ({ ws }) => ws.ping(),
        ({ ws }) => ws.pong(),
        ({ ws }) => ws.send('x'),
      ];
      for (const send of kinds) {
        const client = await subscribe();
        const sendFifty = async () => {
          for (let n = 0; n < 49; n++) send(client);
          await answered(client.ws, 'fifty');
        };
        for (let second = 0; second < 3; second++) {
          await sendFifty();
          await sendFifty();
          clock.advance(1000);
        }
        await sendFifty();
        await sendFifty();
        send(client);
        expect(await client.closed).to.deep.equal({ code: 4000, reason: 'more than 100 frames in a second' });
      }
    });

    it('may send the 100 pings in one packet, and is closed with 4000 if they are 200', async () => {
      const [one, other] = [await subscribe(), await subscribe()];
      const send = ({ ws }: TestClient, pings: number) =>
        (ws as unknown as { readonly _socket: Socket })._socket.write(Buffer.alloc(pings * PING.length, PING));
      send(one, 99);
      expect(await Promise.race([answered(one.ws, 'last'), one.closed])).to.equal(undefined);
      send(other, 200);
      expect(await other.closed).to.include({ code: 4000 });
    });

    it('is read for at most 100 frames after it was refused', async () => {
      const accepted = once(server, 'connection') as Promise<[Socket]>;
      const raw = await Raw.open(portOf(server), upgradeOf('/stream/subscribe'));
      const [socket] = await accepted;
      await raw.first();
      const flood = Buffer.alloc(16 * 1024 * 1024, PING);
      raw.socket.write(flood);
      await until(() => socket.destroyed);
      expect(socket.bytesRead).to.be.lessThan(flood.length / 4);
      expect(raw.received).to.include(String.fromCharCode(0x88)).and.to.include('authentication failed');
    });
  });

  describe('a reader that has stopped', () => {
    const big = 'x'.repeat(256 * 1024);

    /** Publishes until the kernel takes no more for the stopped reader; returns how many messages that took. */
    async function stuff(): Promise<number> {
      const underWay = () => fanout.counters.connected - fanout.counters.delivered;
      for (let sent = 1; sent <= 400; sent++) {
        await bus.publish('one', [message(`${sent}${big}`)]);
        await new Promise((resolve) => setImmediate(resolve));
        if (underWay() > 0) return sent;
      }
      throw new Error('the kernel took 100 MB: the reader has not stopped');
    }

    it('does not delay the others, and is evicted with 1013 and the cause when its lag is too great', async () => {
      await start({ maxLagMs: 10_000, maxBufferedBytes: 1 << 30 });
      const [slow, quick] = [await subscribe(), await subscribe()];
      slow.ws.pause();
      const sent = await stuff();
      await quick.count(1 + sent);
      clock.advance(10_000);
      expect(fanout.lagMs).to.equal(10_000);
      expect(fanout.counters.evicted).to.equal(0);
      clock.advance(1000);
      expect(fanout.counters.evicted).to.equal(1);
      await bus.publish('one', [message('after')]);
      await quick.count(2 + sent);
      slow.ws.resume();
      expect(await slow.closed).to.deep.equal({ code: 1013, reason: 'the subscriber reads too slowly' });
      expect(slow.texts.length).to.equal(1 + sent);
      expect(slow.texts.slice(1).every((text, index) => text === `${index + 1}${big}`)).to.equal(true);
    });

    it('is evicted when too many bytes wait for it, and disconnected if it does not read the close frame', async () => {
      await start({ maxBufferedBytes: 1024 * 1024 });
      const [slow, quick] = [await subscribe(), await subscribe()];
      slow.ws.pause();
      let sent = await stuff();
      while (fanout.counters.evicted === 0 && sent < 500) {
        await bus.publish('one', [message(`${++sent}${big}`)]);
        await new Promise((resolve) => setImmediate(resolve));
      }
      expect(fanout.counters.evicted).to.equal(1);
      await quick.count(1 + sent);
      expect(fanout.connections).to.equal(2);
      clock.advance(CLOSE_GRACE_MS);
      await until(() => fanout.connections === 1);
      const { connected, delivered, dropped } = fanout.counters;
      expect(dropped).to.be.greaterThan(0);
      expect(delivered + dropped).to.equal(connected);
    });

    it('is disconnected if it continues to send pings', async () => {
      await start({ maxBufferedBytes: 1 << 30 });
      const slow = await subscribe();
      slow.ws.pause();
      await stuff();
      for (let pings = 1; pings <= 100; pings++) slow.ws.ping();
      const other = await subscribe();
      other.ws.ping();
      await once(other.ws, 'pong');
      expect(fanout.connections).to.equal(2);
      clock.advance(1000);
      slow.ws.ping();
      await until(() => fanout.connections === 1);
    });

    it('is not evicted if it continues reading in time', async () => {
      await start({ maxLagMs: 10_000, maxBufferedBytes: 1 << 30 });
      const slow = await subscribe();
      slow.ws.pause();
      const sent = await stuff();
      clock.advance(9000);
      slow.ws.resume();
      await slow.count(1 + sent);
      await until(() => fanout.counters.delivered === fanout.counters.connected);
      clock.advance(60_000);
      expect(fanout.counters.evicted).to.equal(0);
    });
  });

  describe('an account with many subscribers that do not read', () => {
    /** Subscribers that read nothing after the status. */
    async function silent(count: number): Promise<Raw[]> {
      const path = `${new URL(url).pathname}?api_key=${KEY}`;
      const raws = await Promise.all(Array.from({ length: count }, () => Raw.at(url, upgradeOf(path))));
      for (const raw of raws) raw.socket.pause();
      await until(() => fanout.connections === count);
      for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
      return raws;
    }

    it('does not delay another account by more than a few turns', async () => {
      const crowd = await silent(200);
      const quiet = await subscribe(OTHER_KEY);
      for (let n = 0; n < 5000; n++) await bus.publish('one', [message('{}')]);
      await bus.publish('two', [message('a')]);
      await quiet.count(2);
      const { delivered } = fanout.counters;
      expect(delivered).to.be.lessThan(500_000);
      await until(() => fanout.counters.connected === 1_000_001);
      for (const { socket } of crowd) socket.destroy();
    });

    it('has them evicted earlier, so that all of them together leave little unread', async () => {
      const evicted: number[] = [];
      const warn = (fields: object) => evicted.push('bytes' in fields ? Number(fields.bytes) : 0);
      await start({ log: { ...silentLog, warn } });
      const crowd = await silent(64);
      const text = 'x'.repeat(64 * 1024);
      for (let sent = 0; sent < 400 && fanout.counters.evicted < 64; sent++) {
        await bus.publish('one', [message(text)]);
        await new Promise((resolve) => setImmediate(resolve));
      }
      expect(fanout.counters.evicted).to.equal(64);
      clock.advance(1000);
      expect(Math.max(...evicted)).to.be.within(1024 * 1024, 1.3 * 1024 * 1024);
      for (const { socket } of crowd) socket.destroy();
    });

    it('closes them with 1012 if it publishes more than can be sent, and does not affect others', async () => {
      const [slow, other] = [await subscribe(), await subscribe(OTHER_KEY)];
      for (let sent = 0; sent < 70; sent++) await bus.publish('one', [message('x'.repeat(64 * 1024))]);
      await bus.publish('two', [message('a')]);
      clock.advance(3000);
      expect(await slow.closed).to.include({ code: 1012 });
      await other.count(2);
      const { connected, delivered, dropped } = fanout.counters;
      expect([connected, delivered, dropped]).to.deep.equal([66, 1, 65]);
      expect(fanout.counters.losses).to.equal(1);
    });
  });

  describe('a loss', () => {
    it('closes the sockets of its account with 1012 and the cause within seconds, delivers nothing more to them, and does not affect new sockets and other accounts', async () => {
      const listeners = new Map<string, BusListener>();
      const lossy: FanoutOptions['bus'] = {
        subscribe: (account, listener) => {
          listeners.set(account, listener);
          return bus.subscribe(account, listener);
        },
      };
      await start({ bus: lossy });
      const concerned = await Promise.all([subscribe(), subscribe(), subscribe(ANNA_KEY)]);
      const other = await subscribe(OTHER_KEY);
      await bus.publish('one', [message('before', 'anna')]);
      listeners.get('one')?.loss();
      const newcomer = await subscribe();
      await bus.publish('one', [message('after', 'anna')]);
      await bus.publish('two', [message('after')]);
      await Promise.all([newcomer.count(2), other.count(2)]);
      clock.advance(1500);
      await until(() => fanout.connections === 3);
      clock.advance(1500);
      for (const client of concerned) {
        const reason = 'insights may have been missed; connect again and read them over REST';
        expect(await client.closed).to.deep.equal({ code: 1012, reason });
        expect(client.texts).to.deep.equal([STATUS, 'before']);
      }
      expect(newcomer.texts).to.deep.equal([STATUS, 'after']);
      await until(() => fanout.connections === 2);
      expect(fanout.counters.losses).to.equal(1);
    });
  });

  describe('drain', () => {
    it('closes the open sockets with 1012, spread over the window, and ends when all are closed', async () => {
      const all = await Promise.all([subscribe(), subscribe(), subscribe(), subscribe()]);
      const drained = fanout.drain(1000);
      clock.advance(499);
      await until(() => fanout.connections === 2);
      await bus.publish('one', [message('still served')]);
      await until(() => all.filter((client) => client.texts.includes('still served')).length === 2);
      clock.advance(501);
      await drained;
      for (const client of all) expect(await client.closed).to.include({ code: 1012 });
      expect(keys.watched).to.equal(false);
    });

    it('accepts new connections only to close them with 1012, whatever their key', async () => {
      await fanout.drain(0);
      expect(await connect().closed).to.include({ code: 1012 });
      expect(await connect(null).closed).to.include({ code: 1012 });
    });
  });
});
