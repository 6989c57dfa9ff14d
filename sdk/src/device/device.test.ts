import { once } from 'node:events';
import { expect } from 'chai';
import { DeviceInsights } from '../client.js';
import { type Clock, systemClock } from '../clock.js';
import type { ConnectionStatus } from '../socket/connection.js';
import { ClosedError } from '../socket/reconnection.js';
import { type Peer, SocketServer } from '../socket/socket-server.fixture.js';
import type { Device } from './device.js';
import type { DeviceSettings } from './device-options.js';
import type { NoticeMessage, RefusedMessage } from './messages.js';
import { CHANNELS, LIMITS, ready } from './ready.fixture.js';

/** A device time, ms. */
const T = Date.UTC(2026, 0, 1);

/** Channels whose next number is as given. */
const at = (ppg: number, accel = 0) =>
  CHANNELS.map((channel) => ({ ...channel, next_seq: channel.index === 0 ? ppg : accel }));

/** `[channel, seq, samples]` of the frames among messages, int16 only. */
function frames(messages: readonly (string | Buffer)[]) {
  return messages
    .filter((message) => typeof message !== 'string')
    .map((bytes) => [bytes.readUInt8(1), bytes.readUInt32LE(4), (bytes.length - 16) / 2]);
}

/** Resolves when the device has read all that was sent to it, and sent what follows from it. */
async function hasRead({ socket }: Peer): Promise<void> {
  const pong = once(socket, 'pong');
  socket.ping();
  await pong;
}

/** The system's clock, on which the device's pings are due when a test says so. */
class Pings {
  send = () => {};
  readonly clock: Clock = {
    ...systemClock,
    after: (ms, run) => {
      if (ms !== 15_000) return systemClock.after(ms, run);
      this.send = run;
      return () => {};
    },
  };
}

describe('device', () => {
  let server: SocketServer;
  let device: Device;
  beforeEach(() => {
    server = new SocketServer();
  });
  afterEach(async () => {
    device.close();
    await server.close();
  });

  async function connect(settings: Partial<DeviceSettings> = {}, clock: Clock = systemClock): Promise<Peer> {
    const access = { baseUrl: await server.url(), apiKey: 'svc_key' };
    const client = new DeviceInsights({ ...access, backoff: { random: () => 0 }, clock });
    device = client.device({ deviceId: 'band-1', deviceModelId: 'model-1', ...settings });
    return server.peer();
  }

  /** The same, once the service has answered that it is ready, with these changes. */
  async function live(changes: object = {}, ...settings: Parameters<typeof connect>): Promise<Peer> {
    const peer = await connect(...settings);
    peer.send(ready(changes));
    await device.ready();
    return peer;
  }

  it('connects with its names, its key and its clock', async () => {
    const peer = await connect({}, { now: () => 1234, after: () => () => {} });
    expect(Object.fromEntries(peer.query)).to.deep.equal({
      device_id: 'band-1',
      device_model_id: 'model-1',
      api_key: 'svc_key',
      clock: '1234',
    });
  });

  it('numbers pushed samples, also before it is connected, by index or modality', async () => {
    const peer = await connect();
    device.push(0, [1, 2, 3], Date.now());
    device.push('accel', [1, 2, 3, 4, 5, 6]);
    peer.send(ready());
    await device.ready();
    device.push('ppg', [4, null], T);
    const messages = await peer.messages(3);
    expect(frames(messages.slice(0, 2))).to.deep.equal([
      [0, 0, 3],
      [1, 0, 6],
    ]);
    const last = messages[2] as Buffer;
    expect([last.readUInt32LE(4), last.readDoubleLE(8), last.readFloatLE(16), last.readFloatLE(20)]).to.deep.equal([
      3,
      T,
      4,
      Number.NaN,
    ]);
    expect((messages[1] as Buffer).readDoubleLE(8)).to.be.NaN;
  });

  it('numbers samples that it is given as soon as it is live after those from before', async () => {
    const onStatus = ({ state }: ConnectionStatus) => state === 'live' && device.push('ppg', [4, 5]);
    const peer = await connect({ onStatus });
    device.push('ppg', [1, 2, 3]);
    peer.send(ready());
    const [message] = (await peer.messages(1)) as Buffer[];
    expect(Array.from({ length: 5 }, (_, n) => message?.readInt16LE(16 + 2 * n))).to.deep.equal([1, 2, 3, 4, 5]);
  });

  it('splits samples that exceed a frame, with the stamp and number of each part', async () => {
    const peer = await live({ limits: { ...LIMITS, max_frame_bytes: 56 } });
    device.push('accel', Array(21).fill(1), T);
    const messages = await peer.messages(3);
    expect(frames(messages)).to.deep.equal([
      [1, 0, 9],
      [1, 3, 9],
      [1, 6, 3],
    ]);
    expect(messages.map((bytes) => (bytes as Buffer).readDoubleLE(8))).to.deep.equal([T, T + 60, T + 120]);
  });

  it('refuses samples that do not fit the channel', async () => {
    await live();
    expect(() => device.push('accel', [1, 2])).to.throw(
      RangeError,
      'samples must be whole instants, 3 values each; it is 2',
    );
    expect(() => device.push('ecg', [1])).to.throw(
      RangeError,
      'channel must be one of those of ready(): 0 (ppg), 1 (accel); it is "ecg"',
    );
    expect(() => device.push(0, [Infinity])).to.throw(RangeError, 'within float32');
  });

  describe('refuses at the first call, before it is connected, and says what to give instead:', () => {
    const push =
      (...values: unknown[]) =>
      () =>
        device.push(...(values as Parameters<Device['push']>));
    beforeEach(() => connect());

    it('strings, dates and undefined for times', () => {
      for (const ts of ['2026-01-31', new Date(), null, undefined])
        expect(push(0, [1], ts), `${ts}`).to.throw(
          TypeError,
          /^ts must be ms since the epoch, such as Date.now\(\), or left out if the device has no clock; it is ("2026|\w{3} \w{3}|null|undef)/,
        );
      expect(push(0, [1])).not.to.throw();
      expect(push(0, [1], Number.NaN)).not.to.throw();
    });

    it('times in seconds, microseconds and nanoseconds, and those since the start of the device', () => {
      for (const [ts, message] of [
        [Math.floor(T / 1000), 'ts must be ms since the epoch, such as Date.now(); it is 1767'],
        [T * 1000, 'ms since the epoch'],
        [T * 1e6, 'ms since the epoch'],
        [0, 'ts must be ms since the epoch, such as Date.now(); it is 0'],
        [performance.now(), 'ms since the epoch'],
        [Number.POSITIVE_INFINITY, 'ts must be finite'],
      ] as const)
        expect(push(0, [1], ts), `${ts}`).to.throw(RangeError, message);
      expect(push(0, [1, null], T)).not.to.throw();
    });

    it('strings, undefined and bytes for samples', () => {
      const bytes = Uint8Array.of(1, 2, 3, 4);
      expect(push(0, ['512', '513'], T)).to.throw(
        TypeError,
        'a sample must be a number within float32, or null if it is missing; it is "512"',
      );
      expect(push(0, [512, undefined], T)).to.throw(TypeError, 'null if it is missing; it is undefined');
      for (const wrong of [bytes, Buffer.from(bytes), Int8Array.from(bytes), bytes.buffer, new DataView(bytes.buffer)])
        expect(push(0, wrong, T)).to.throw(TypeError, 'samples must be numbers, not bytes: decode them');
      for (const missing of [null, undefined])
        expect(push(0, missing, T)).to.throw(TypeError, `samples must be numbers, not bytes: decode them`);
      expect(push(0, new Int16Array(bytes.buffer), T)).not.to.throw();
    });

    it('channels that no device model can have', () => {
      for (const channel of ['PPG', 'ppg green', '', -1, 0.5, Number.NaN, null, undefined])
        expect(push(channel, [1], T), `${channel}`).to.throw(RangeError, 'channel must be an index in');
    });
  });

  it('stops when it is connected, not only at end(), if it was given samples of a channel that does not exist', async () => {
    const states: (Error | null)[] = [];
    const peer = await connect({ onStatus: ({ state, error }) => state === 'closed' && states.push(error) });
    device.push('ppg_gren', [1], T);
    peer.send(ready());
    const error = await device.closed;
    expect(String(error)).to.contain(
      'RangeError: channel must be one of those of ready(): 0 (ppg), 1 (accel); it is "ppg_gren"',
    );
    expect(states).to.deep.equal([error]);
    expect(() => device.push('ppg', [1], T)).to.throw(RangeError, 'ppg_gren');
  });

  it('refuses options that do not exist, and names that are missing', async () => {
    await connect();
    const client = new DeviceInsights({ baseUrl: await server.url(), apiKey: 'svc_key' });
    const names = { deviceId: 'a', deviceModelId: 'm' };
    for (const [wrong, message] of [
      [{ id: 'a' }, 'a device has no option "id"; its options are deviceId, deviceModelId'],
      [{ deviceId: undefined }, 'deviceId must be 1 to 128 of A-Z'],
      [{ deviceId: 'my band' }, 'it is "my band"'],
      [{ deviceModelId: undefined }, 'deviceModelId must be the id of a device model'],
      [{ apiKey: 'svc_other' }, 'a device has no option "apiKey"'],
      [{ bufferBytes: -1 }, 'bufferBytes must be a number of at least 0; it is -1'],
      [{ bufferBytes: '8 MB' }, 'bufferBytes must be a number of at least 0; it is "8 MB"'],
    ] as const)
      expect(() => client.device({ ...names, ...wrong } as DeviceSettings), message).to.throw(TypeError, message);
  });

  it('has the reason of the service for a close', async () => {
    const peer = await live();
    peer.socket.close(1009, 'a message is larger than 65536 bytes');
    expect(await device.closed)
      .to.be.instanceOf(ClosedError)
      .and.include({ code: 1009, message: 'the connection is closed (1009): a message is larger than 65536 bytes' });
  });

  it('takes the times of a clock that was never set, and is at a day of 1970 that is a time in seconds', async () => {
    const clock = { ...systemClock, now: () => 11 * 86_400_000 };
    const peer = await live({}, {}, clock);
    device.push(0, [1], clock.now());
    const [frame] = (await peer.messages(1)) as [Buffer];
    expect(frame.readDoubleLE(8)).to.equal(clock.now());
  });

  it('leaves out what was stamped before its clock was set, if it was set before the first connection', async () => {
    let now = 300_000;
    const peer = await connect({}, { ...systemClock, now: () => now });
    device.push(0, [1, 2, 3], now);
    now = Date.now();
    device.push(0, [4, 5], now);
    peer.send(ready());
    await device.ready();
    const [frame] = (await peer.messages(1)) as [Buffer];
    expect(frame.readDoubleLE(8)).to.equal(now);
    expect(device.counters.samplesDropped).to.equal(3);
  });

  it('stops with what its onStatus throws, also if it throws each time', async () => {
    const thrown = new Error('thrown by onStatus');
    const onStatus = () => {
      throw thrown;
    };
    const peer = await connect({ onStatus });
    peer.send(ready());
    expect(await device.closed).to.equal(thrown);
    expect(device.state).to.equal('closed');
  });

  it('stops with what a function of the caller throws', async () => {
    const thrown = new Error('thrown by onNotice');
    const onNotice = () => {
      throw thrown;
    };
    const peer = await connect({ onNotice });
    peer.send({ type: 'notice', code: 'all_lost', detail: '…' });
    expect(await device.closed).to.equal(thrown);
    expect(() => device.push(0, [1])).to.throw(thrown.message);
  });

  it('collects samples that are pushed one by one', async () => {
    const peer = await live();
    for (let n = 0; n < 25; n++) device.push('ppg', [n], T + 10 * n);
    expect(frames(await peer.messages(3))).to.deep.equal([
      [0, 0, 10],
      [0, 10, 10],
      [0, 20, 5],
    ]);
  });

  it('sends samples that it collects before later ones that the caller numbers', async () => {
    const peer = await live();
    device.push('ppg', [1, 2], T);
    device.send({ channel: 'ppg', seq: 5, ts: T + 50, samples: Float64Array.of(3) });
    expect(frames(await peer.messages(2))).to.deep.equal([
      [0, 0, 2],
      [0, 5, 1],
    ]);
  });

  it('waits while too much data is not acknowledged, and continues with the acknowledgement', async () => {
    const peer = await live({ limits: { ...LIMITS, max_unacked_ms: 2000 } });
    for (let n = 0; n < 5; n++) device.push(0, Array(100).fill(n));
    expect(frames(await peer.messages(2))).to.have.length(2);
    expect(device.backlogBytes).to.equal(3 * 216);
    peer.send({ type: 'ack', next_seq: { 0: 100 }, server_time: 0 });
    expect(frames(await peer.messages(3))).to.have.length(3);
    peer.send({ type: 'ack', next_seq: { 0: 300 }, server_time: 0 });
    await device.drained();
    expect(frames(await peer.messages(5)).map(([, seq]) => seq)).to.deep.equal([0, 100, 200, 300, 400]);
  });

  it('does not wait for the acknowledgement of frames that the service refused', async () => {
    const pings = new Pings();
    const peer = await live({ limits: { ...LIMITS, max_unacked_ms: 2000 } }, {}, pings.clock);
    for (let n = 0; n < 3; n++) device.push(0, Array(100).fill(n));
    pings.send();
    expect((await peer.messages(3))[2]).to.equal('{"type":"ping"}');
    peer.send({ type: 'error', code: 'in_future', detail: 'ts lies in the future', channel: 0, seq: 0 });
    peer.send({ type: 'pong' });
    const ended = device.end();
    expect((await peer.messages(5))[4]).to.equal('{"type":"end"}');
    peer.send({ type: 'ended', session_id: 's1' });
    peer.socket.close(1000);
    await ended;
  });

  it('waits for the acknowledgement of frames sent after the ping that a pong answers', async () => {
    const pings = new Pings();
    const peer = await live({ limits: { ...LIMITS, max_unacked_ms: 2000 } }, {}, pings.clock);
    for (let n = 0; n < 5; n++) device.push(0, Array(100).fill(n));
    pings.send();
    await peer.messages(3);
    peer.send({ type: 'ack', next_seq: { 0: 200 }, server_time: 0 });
    await peer.messages(5);
    peer.send({ type: 'pong' });
    await hasRead(peer);
    expect(frames(peer.received)).to.have.length(4);
    pings.send();
    peer.send({ type: 'pong' });
    await device.drained();
  });

  it('sends again in another session what the service refused because its clock was set', async () => {
    let now = 1_700_000_000_000;
    const states: string[] = [];
    const onStatus: DeviceSettings['onStatus'] = ({ state }) => states.push(state);
    const first = await live({}, { onStatus }, { ...systemClock, now: () => now });
    device.push(0, Array(100).fill(1));
    await first.messages(1);
    first.send({ type: 'ack', next_seq: { 0: 100 }, server_time: 0 });
    now += 3_600_000;
    device.push(0, Array(100).fill(2));
    await first.messages(2);
    first.send({ type: 'error', code: 'in_future', detail: 'ts lies in the future', channel: 0, seq: 100 });
    first.send({ type: 'error', code: 'in_future', detail: 'once more', channel: 0, seq: 100 });
    expect((await first.messages(3)).slice(2)).to.deep.equal(['{"type":"end"}']);
    first.send({ type: 'ended', session_id: 's1' });
    first.socket.close(1000);
    const second = await server.peer();
    expect(second.query.get('clock')).to.equal(String(now));
    second.send(ready({ session_id: 's2' }));
    expect(frames(await second.messages(1))).to.deep.equal([[0, 100, 100]]);
    const ended = device.end();
    await second.messages(2);
    second.send({ type: 'ended', session_id: 's2' });
    second.socket.close(1000);
    await ended;
    expect(first.received).to.have.length(3);
    expect(states).to.deep.equal(['live', 'connecting', 'live', 'closed']);
  });

  it('ends a session that an earlier run of the device left open if the service refuses its times there', async () => {
    const first = await live({ resumed: true, channels: at(5000) });
    device.push(0, Array(100).fill(1));
    await first.messages(1);
    first.send({ type: 'error', code: 'in_future', detail: 'ts lies in the future', channel: 0, seq: 5000 });
    expect((await first.messages(2))[1]).to.equal('{"type":"end"}');
    first.send({ type: 'ended', session_id: 's1' });
    first.socket.close(1000);
    const second = await server.peer();
    second.send(ready({ session_id: 's2' }));
    await second.messages(1);
    second.send({ type: 'error', code: 'in_future', detail: 'ts is in microseconds', channel: 0, seq: 5000 });
    await hasRead(second);
    expect(frames(second.received)).to.deep.equal([[0, 5000, 100]]);
    expect(second.received).to.have.length(1);
  });

  it('stays in its session if the service refuses times although its clock was not set', async () => {
    const peer = await live();
    device.push(0, Array(100).fill(1));
    await peer.messages(1);
    peer.send({ type: 'error', code: 'in_future', detail: 'ts is in microseconds', channel: 0, seq: 0 });
    await hasRead(peer);
    device.push(0, Array(100).fill(2));
    expect(frames(await peer.messages(2))).to.have.length(2);
  });

  it('reconnects after a restart and continues after the data that the service has', async () => {
    const first = await live();
    for (let n = 0; n < 3; n++) device.push(0, Array(100).fill(n));
    await first.messages(3);
    first.socket.close(1012);
    await once(first.socket, 'close');
    device.push(0, [9]);
    const second = await server.peer();
    second.send(ready({ resumed: true, channels: at(150) }));
    expect(frames(await second.messages(3))).to.deep.equal([
      [0, 100, 100],
      [0, 200, 100],
      [0, 300, 1],
    ]);
    expect(device.counters.reconnects).to.equal(1);
  });

  it('sends the last minute again to a gateway that lost the signal', async () => {
    const first = await live();
    for (let n = 0; n < 80; n++) device.push(0, Array(100).fill(n));
    for (let n = 10; n <= 80; n += 10) first.send({ type: 'ack', next_seq: { 0: 100 * n }, server_time: 0 });
    await device.drained();
    await first.messages(80);
    first.socket.terminate();
    const second = await server.peer();
    second.send(
      ready({ resumed: true, replay_ms: 60_000, channels: at(8000), limits: { ...LIMITS, max_unacked_ms: 1e9 } }),
    );
    expect(frames(await second.messages(60)).map(([, seq]) => seq)).to.deep.equal(
      Array.from({ length: 60 }, (_, n) => 2000 + 100 * n),
    );
  });

  it('sends unacknowledged data in the next session if the old one is closed', async () => {
    const first = await live();
    for (let n = 0; n < 3; n++) device.push(0, Array(100).fill(n));
    first.send({ type: 'ack', next_seq: { 0: 200 }, server_time: 0 });
    first.send({ type: 'error', code: 'too_late', detail: 'the acknowledgement before this has been read' });
    await first.messages(3);
    first.socket.close(1012);
    const second = await server.peer();
    second.send(ready({ session_id: 's2' }));
    expect(frames(await second.messages(1))).to.deep.equal([[0, 200, 100]]);
  });

  it('continues the numbers of a session that an earlier run of the device left open', async () => {
    const peer = await live({ resumed: true, channels: at(5000, 70) });
    device.push(0, [1]);
    device.send({ channel: 1, seq: 4, ts: T, samples: Float64Array.of(1, 2, 3) });
    expect(frames(await peer.messages(2))).to.have.deep.members([
      [0, 5000, 1],
      [1, 74, 3],
    ]);
  });

  it('sends end after all data, and resolves when the service has answered', async () => {
    const peer = await connect();
    device.push(0, [1]);
    const ended = device.end();
    expect(() => device.push(0, [2])).to.throw('has ended its session');
    peer.send(ready());
    const messages = await peer.messages(2);
    expect(messages[1]).to.equal('{"type":"end"}');
    peer.send({ type: 'ended', session_id: 's1' });
    peer.socket.close(1000);
    await ended;
    expect(await device.closed).to.equal(null);
  });

  it('sends end again if the connection broke before the answer', async () => {
    const first = await connect();
    first.send(ready());
    const ended = device.end();
    await first.messages(1);
    first.socket.terminate();
    const second = await server.peer();
    second.send(ready({ resumed: true }));
    expect(await second.messages(1)).to.deep.equal(['{"type":"end"}']);
    second.send({ type: 'ended', session_id: 's1' });
    second.socket.close(1000);
    await ended;
  });

  it('stops for good after a refusal, with the close code', async () => {
    const peer = await connect();
    peer.socket.close(4004, 'no such device model');
    const error = await device.closed;
    expect(error).to.be.instanceOf(ClosedError).and.include({ code: 4004 });
    expect(() => device.push(0, [1])).to.throw(ClosedError, 'no such device model');
    expect(await device.end().catch((caught: unknown) => caught)).to.equal(error);
    expect(await device.ready().catch((caught: unknown) => caught)).to.equal(error);
  });

  it('keeps a limited amount of data while it is offline and counts dropped samples', async () => {
    await live({ limits: { ...LIMITS, max_unacked_ms: 0 } }, { bufferBytes: 432 });
    for (let n = 0; n < 5; n++) device.push(0, Array(100).fill(n));
    expect(device.backlogBytes).to.equal(432);
    expect(device.counters.samplesDropped).to.equal(300);
  });

  it('receives notices about a channel or about the whole session', async () => {
    const notices: NoticeMessage[] = [];
    const peer = await connect({ onNotice: (notice) => notices.push(notice) });
    const said: NoticeMessage[] = [
      { type: 'notice', code: 'rate_off', channel: 0, detail: '…', measured_hz: 50, declared_hz: 100 },
      { type: 'notice', code: 'rate_off', channel: 0, detail: '…', over: true },
      { type: 'notice', code: 'not_analysed', detail: '…', modalities: ['ecg'] },
    ];
    for (const notice of said) peer.send(notice);
    peer.send(ready());
    await device.ready();
    expect(notices).to.deep.equal(said);
  });

  it('reports why there is no reading of a type, until there is one or the service gives another reason', async () => {
    const seen: string[] = [];
    const list = () => device.noReadings.map(({ insight, reason }) => `${insight} ${reason}`).join();
    const peer = await connect({ onNotice: () => seen.push(list()) });
    const none = { type: 'notice', code: 'no_reading', detail: '…', algorithm: 'a' } as const;
    peer.send(ready());
    peer.send({ ...none, insight: 'hr', reason: 'noise' });
    peer.send({ ...none, insight: 'hr', reason: 'no_contact', level: 900 });
    peer.send({ ...none, insight: 'spo2', reason: 'no_dc' });
    peer.send({ ...none, insight: 'spo2', over: true });
    peer.send(ready({ session_id: 's8' }));
    peer.send({ ...none, insight: 'rr', reason: 'hum' });
    peer.send(ready({ session_id: 's9', resumed: true }));
    while ((await device.ready()).session_id !== 's9') await new Promise((resolve) => setImmediate(resolve));
    expect(device.noReadings).to.deep.equal([]);
    expect(seen).to.deep.equal(['hr noise', 'hr no_contact', 'hr no_contact,spo2 no_dc', 'hr no_contact', 'rr hum']);
  });

  it('receives errors about refused frames and stays connected', async () => {
    const refusals: RefusedMessage[] = [];
    const peer = await connect({ onRefused: (refusal) => refusals.push(refusal) });
    peer.send(ready());
    peer.send({ type: 'error', code: 'in_future', detail: 'ts is 90 s ahead', channel: 0, seq: 7 });
    peer.send({ type: 'something new' });
    peer.socket.send('not JSON');
    peer.send(ready({ session_id: 's9' }));
    while ((await device.ready()).session_id !== 's9') await new Promise((resolve) => setImmediate(resolve));
    expect(refusals).to.deep.equal([
      { type: 'error', code: 'in_future', detail: 'ts is 90 s ahead', channel: 0, seq: 7 },
    ]);
    expect(device.counters.framesRefused).to.equal(1);
  });

  it('sends one instant a frame, and loops nowhere, if the service says that frames have no bytes', async () => {
    const peer = await live({ limits: { ...LIMITS, max_frame_bytes: 0 } });
    device.push(0, Array(10).fill(1));
    expect(frames(await peer.messages(10))).to.have.length(10);
  });

  it('ignores messages of its types without the fields that it needs, as from a server that is not the service', async () => {
    const peer = await connect();
    const [channel] = CHANNELS;
    const strange: unknown[] = [null, [], { type: 'ready' }, ready({ channels: {} }), ready({ channels: [null] })];
    strange.push(ready({ channels: [{ ...channel, sample_rate_hz: null }] }), ready({ limits: null }));
    strange.push(ready({ replay_ms: '1' }), { type: 'ack' }, { type: 'ack', next_seq: { 0: null } });
    for (const session_id of ['s1', 's2']) {
      for (const message of strange) peer.socket.send(JSON.stringify(message));
      peer.send(ready({ session_id }));
      while ((await device.ready()).session_id !== session_id) await new Promise((resolve) => setImmediate(resolve));
    }
    expect(device.state).to.equal('live');
  });
});
