import { once } from 'node:events';
import { connect as connectTo, type Socket } from 'node:net';
import { portOf } from '@device-insights/fanout/platform/http-server';
import { PING } from '@device-insights/fanout/platform/raw.fixture';
import { until } from '@device-insights/fanout/platform/until.fixture';
import { expect } from 'chai';
import WebSocket from 'ws';
import { Bench, type Gateway, type TestDevice } from './bench.fixture.js';

/** After this silence a device gets a ping, and has this long to answer. */
const SILENCE_MS = 25_000;
const ANSWER_MS = 30_000;
/** Looks that come twice a second. */
const LOOK_MS = 500;

describe('A device that sends invalid data', () => {
  let bench: Bench;
  let gateway: Gateway;
  let device: TestDevice;

  beforeEach(async () => {
    bench = await Bench.open();
    gateway = await bench.gateway();
    device = (await bench.device(gateway)).connect();
    await device.ready();
  });
  afterEach(() => bench.close());

  /** Sends the beginning of a message; resolves once it has been read. */
  async function begin(): Promise<void> {
    device.ws.send('{', { fin: false });
    await pinged();
  }

  async function pinged(): Promise<void> {
    await new Promise<void>((resolve) => {
      device.ws.on('pong', (data) => String(data) === 'last' && resolve());
      device.ws.ping('last');
    });
  }

  it('is closed with 1008 if a message has more than 64 fragments', async () => {
    for (let n = 0; n < 64; n++) device.ws.send('{', { fin: n === 63 });
    await device.handled();
    for (let n = 0; n < 65; n++) device.ws.send('{', { fin: false });
    expect(await device.code()).to.equal(1008);
  });

  it('is closed with 1013 if a message does not end within 30 s', async () => {
    await begin();
    bench.clock.advance(30_000);
    await pinged();
    bench.clock.advance(2 * LOOK_MS);
    expect(await device.code()).to.equal(1013);
  });

  it('has 30 s for each message', async () => {
    for (let n = 0; n < 3; n++) {
      await begin();
      bench.clock.advance(20_000);
      device.ws.send('}');
    }
    expect(await device.handled()).to.have.length(3);
  });

  for (const kind of ['ping', 'pong'] as const) {
    it(`is closed with 4000 after more than 100 ${kind}s in half a second`, async () => {
      const sendFifty = async () => {
        for (let sent = 1; sent < 50; sent++) device.ws[kind]();
        await pinged();
      };
      for (let n = 0; n < 3; n++) {
        await sendFifty();
        await sendFifty();
        bench.clock.advance(LOOK_MS);
      }
      await sendFifty();
      await sendFifty();
      device.ws[kind]();
      expect(await device.code()).to.equal(4000);
    });
  }

  it('may send the 100 pings in one packet', async () => {
    const { _socket: socket } = device.ws as unknown as { readonly _socket: Socket };
    socket.write(Buffer.alloc(99 * PING.length, PING));
    await pinged();
    device.ws.ping();
    expect(await device.code()).to.equal(4000);
  });

  it('is read for at most 100 frames after it was refused', async () => {
    const accepted = once(gateway.server, 'connection') as Promise<[Socket]>;
    const peer = connectTo(portOf(gateway.server), '127.0.0.1');
    peer.on('error', () => undefined);
    const key = 'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==';
    peer.write(`GET /stream/ingest HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n${key}\r\n\r\n`);
    const [socket] = await accepted;
    await once(peer, 'data');
    const flood = Buffer.alloc(16 * 1024 * 1024, Buffer.from([0x89, 0x80, 0, 0, 0, 0]));
    peer.write(flood);
    await until(() => socket.destroyed);
    expect(socket.bytesRead).to.be.lessThan(flood.length / 4);
  });

  it('is closed with 4001 also while it floods', async () => {
    const stranger = bench.connect(gateway, {});
    await once(stranger.ws, 'open');
    for (let n = 0; n < 50; n++) stranger.ws.ping();
    expect(await stranger.code()).to.equal(4001);
    expect(stranger.ws.readyState).to.equal(WebSocket.CLOSED);
  });
});

describe('A device that sends nothing', () => {
  let bench: Bench;
  let device: TestDevice;
  /** The service's end of its connection. */
  let accepted: Socket;

  beforeEach(async () => {
    bench = await Bench.open();
    const gateway = await bench.gateway();
    const connection = once(gateway.server, 'connection') as Promise<[Socket]>;
    device = (await bench.device(gateway)).connect();
    [accepted] = await connection;
    await device.ready();
  });
  afterEach(() => bench.close());

  it('stays connected as long as it answers the pings of the service', async () => {
    for (let n = 0; n < 5; n++) {
      const before = accepted.bytesRead;
      bench.clock.advance(SILENCE_MS);
      await until(() => accepted.bytesRead > before);
    }
    expect(accepted.destroyed).to.equal(false);
  });

  it('is disconnected if it does not answer for 30 s: it has vanished without closing', async () => {
    device.ws.pause(); // It reads nothing, so it answers nothing.
    bench.clock.advance(SILENCE_MS + ANSWER_MS);
    expect(accepted.destroyed).to.equal(false);
    bench.clock.advance(LOOK_MS);
    expect(accepted.destroyed).to.equal(true);
  });
});
