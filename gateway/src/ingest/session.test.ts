import { until } from '@device-insights/fanout/platform/until.fixture';
import { expect } from 'chai';
import fc from 'fast-check';
import { Bench, type Gateway, pulse, type ServerMessage, T0, type TestDevice } from './bench.fixture.js';
import { binary, channel, int16 } from './frames.fixture.js';

const errorsOf = (messages: ServerMessage[]) => messages.filter(({ type }) => type === 'error');

const HOUR_MS = 3_600_000;

describe('A session', () => {
  let bench: Bench;
  let gateway: Gateway;
  let connect: (more?: Record<string, string>) => TestDevice;

  beforeEach(async () => {
    bench = await Bench.open();
    gateway = await bench.gateway();
    ({ connect } = await bench.device(gateway, {
      channels: [channel(), channel({ modality: 'temperature', num_channels: 3 })],
    }));
  });

  afterEach(() => bench.close());

  async function connected(more: Record<string, string> = {}): Promise<{ device: TestDevice; id: string }> {
    const device = connect(more);
    const { session_id: id } = await device.ready();
    return { device, id };
  }

  /** Sends a pulse in binary frames of a tenth of a second. */
  function stream(device: TestDevice, from: number, to: number, start = T0): void {
    for (let seq = from; seq < to; seq += 10) device.send(binary({ seq, ts: start + seq * 10 }, pulse(seq, 10)));
  }

  it('continues after any bytes and any JSON', async () => {
    const { device } = await connected();
    const header = fc.constantFrom([1, 0, 1, 0], [1, 1, 4, 0], [1, 7, 2, 0], [1, 0, 3, 9]);
    const bytes = fc.tuple(header, fc.uint8Array({ maxLength: 64 })).map(([h, tail]) => Uint8Array.of(...h, ...tail));
    const message = fc.oneof(bytes, fc.uint8Array({ maxLength: 40 }), fc.json(), fc.string());
    let seq = 0;
    for (const [i, garbage] of fc.sample(message, { numRuns: 2000, seed: 20 }).entries()) {
      device.ws.send(garbage);
      if (i % 500 === 0) device.samples(4_000_000_000 + seq++, 1, { ts: T0 });
    }
    await device.handled();
    bench.clock.advance(1000);
    device.ws.send('{');
    expect(errorsOf(await device.handled())).to.have.length(1);
  });

  it('disconnects a device that does not read the answers to its requests', async () => {
    const { device } = await connected();
    device.ws.pause();
    for (let i = 0; i < 300; i++) device.send({ type: 'ping', t: 'x'.repeat(60_000) });
    await until(() => gateway.ingest.connections === 0);
  });

  it('answers a ping with its t, and WebSocket pings with pongs', async () => {
    const { device } = await connected();
    device.send({ type: 'ping', t: 17 });
    device.send({ type: 'ping' });
    expect(await device.next('pong')).to.deep.equal({ type: 'pong', t: 17 });
    expect(await device.next('pong')).to.deep.equal({ type: 'pong' });
    const pong = new Promise((resolve) => device.ws.once('pong', (data) => resolve(data.toString())));
    device.ws.ping('hi');
    expect(await pong).to.equal('hi');
  });

  it('turns a stream into stored and published insights, and ends on request', async () => {
    const { device, id } = await connected();
    for (let s = 0; s < 12; s++) {
      stream(device, s * 100, s * 100 + 100);
      await device.handled();
      bench.clock.advance(1000);
    }
    expect(await bench.end(device)).to.deep.equal({ type: 'ended', session_id: id });
    expect(await device.code()).to.equal(1000);
    const rates = await bench.insights(id);
    expect(rates.length).to.be.greaterThan(6);
    expect(rates.at(-1)?.value).to.be.closeTo(72, 2);
    expect(rates[0]?.actual_end).to.equal(T0 + 4000);
    const stored = [...rates, ...(await bench.insights(id, 'rr'))];
    expect(bench.published.map(({ text }) => JSON.parse(text).ts)).to.have.members(stored.map(({ ts }) => ts));
    expect(await bench.row(id)).to.include({ status: 'closed', endedAt: T0 + 11_000 });
  });

  it('gives the same readings from reordered, repeated and late frames', async () => {
    const { device, id } = await connected();
    const frames = Array.from({ length: 100 }, (_, i) => i * 10);
    const shuffled = frames.map((seq, i) => ({ seq, place: i + ((i * 7) % 11) })).sort((a, b) => a.place - b.place);
    device.send(binary({ seq: 0, ts: T0 }, pulse(0, 10)));
    for (const { seq } of [...shuffled, ...shuffled.slice(40)]) {
      device.send(binary({ seq, ts: T0 + seq * 10 }, pulse(seq, 10)));
    }
    expect(errorsOf(await device.handled())).to.deep.equal([]);
    await bench.end(device);
    const rates = await bench.insights(id);
    expect(rates.every(({ coverage }, i) => i < 4 || coverage === 1)).to.equal(true);
    expect(rates.at(-1)?.value).to.be.closeTo(72, 2);
  });

  it('leaves no row of a session that ends without data', async () => {
    const { device, id } = await connected();
    device.send({ type: 'end' });
    await device.next('ended');
    expect(await bench.store.session(id)).to.equal(null);
  });

  it('keeps the row of a session whose data were all refused', async () => {
    const { device, id } = await connected();
    device.send({ type: 'samples', channel: 9, seq: 0, samples: [1] });
    device.send({ type: 'end' });
    await device.next('ended');
    expect(await bench.row(id)).to.include({ status: 'closed', endedAt: T0 });
  });

  it('ignores all data after end', async () => {
    const { device, id } = await connected();
    device.samples(0, 10);
    device.send({ type: 'end' });
    for (let seq = 10; seq < 20_000; seq += 10) device.samples(seq, 10);
    device.ws.send('{');
    await device.next('ended');
    expect(await device.code()).to.equal(1000);
    expect(errorsOf(device.received)).to.deep.equal([]);
    expect((await bench.row(id)).progress.nextSeq).to.deep.equal({ 0: 10 });
  });

  it('accepts back-fill faster than real time, with windows by data time', async () => {
    const { device, id } = await connected();
    for (let s = 0; s < 300; s++)
      device.send(binary({ seq: s * 100, ts: T0 - HOUR_MS + s * 1000 }, pulse(s * 100, 100)));
    await bench.end(device);
    const rates = await bench.insights(id);
    expect(rates).to.have.length(297);
    expect(rates.at(-1)).to.include({ actual_end: T0 - HOUR_MS + 300_000 });
    expect(rates.at(-1)?.e2e_latency_ms).to.be.greaterThan(3_000_000);
  });

  it('shifts the times of a device whose clock is off by more than a second, and no others', async () => {
    const { device, id } = await connected({ clock: String(T0 - HOUR_MS) });
    device.samples(0, 10, { ts: T0 - HOUR_MS });
    await device.handled();
    await until(async () => (await bench.row(id)).progress.firstInstant !== null);
    expect((await bench.row(id)).progress).to.include({ clockShift: 3_600_000, firstInstant: T0 });
    const other = await connected({ device_id: 'other', clock: String(T0 - 1000) });
    expect((await bench.row(other.id)).progress.clockShift).to.equal(0);
  });

  it('refuses a clock that may have waited while the process stood still, so that it shifts nothing', async () => {
    bench.clock.skip(26_000);
    const waited = { device_id: 'waited', clock: String(T0) };
    expect(await connect(waited).code()).to.equal(1013);
    await connected({ device_id: 'steady', clock: String(T0 + 26_000) });
    bench.clock.advance(0);
    expect(await connect(waited).code()).to.equal(1013);
    bench.clock.advance(1000);
    const { id } = await connected({ device_id: 'waited', clock: String(T0 + 27_000) });
    expect((await bench.row(id)).progress.clockShift).to.equal(0);
  });

  it('records at once the start of its data, and the first numbers if there is no clock', async () => {
    const { device, id } = await connected();
    bench.clock.advance(300);
    device.samples(50, 10, { ts: null });
    await device.handled();
    await until(async () => (await bench.row(id)).progress.firstInstant !== null);
    expect((await bench.row(id)).progress).to.deep.equal({
      clockShift: 0,
      originWithoutClock: T0 + 300 - 500,
      firstInstant: T0 + 300,
      lastInstant: T0 + 390,
      nextSeq: { 0: 60 },
      lastDataAt: T0 + 300,
    });
  });

  it('records its progress at least every 5 s while data flow', async () => {
    const { device, id } = await connected();
    for (let seq = 0; seq < 100; seq += 10) {
      device.samples(seq, 10);
      await device.handled();
      bench.clock.advance(600);
    }
    const { clock } = bench;
    await until(async () => ((await bench.row(id)).progress.lastDataAt ?? 0) >= clock.now() - 5000);
  });

  it('records the arrival of the last data when data stop', async () => {
    const { device, id } = await connected();
    device.samples(0, 10);
    device.samples(10, 10);
    await device.handled();
    bench.clock.advance(5000);
    await until(async () => (await bench.row(id)).progress.nextSeq[0] === 20);
  });

  /** Streams a pulse of 72 a minute in real time, without a clock, at a rate that is not the model's 100 Hz. */
  async function streamAt(hz: number, device: TestDevice, seconds: number): Promise<ServerMessage[]> {
    const told: ServerMessage[] = [];
    for (let k = 0; k < seconds * 10; k++) {
      bench.clock.advance(100);
      const seconds = Array.from({ length: hz / 10 }, (_, i) => ((k * hz) / 10 + i) / hz);
      const wave = (t: number) => 10_000 + 1000 * Math.cos(2.4 * Math.PI * t) + 300 * Math.cos(4.8 * Math.PI * t + 1);
      device.send(binary({ seq: (k * hz) / 10 }, int16(...seconds.map((t) => Math.round(wave(t))))));
      told.push(...(await device.handled()));
    }
    return told;
  }

  it('follows the arrivals of a device without a clock that sends twice as fast as its model, and trusts no reading', async () => {
    const { device, id } = await connected();
    const told = await streamAt(200, device, 40);
    await bench.end(device);
    const rates = await bench.insights(id);
    expect(rates.at(-1)?.value).to.be.closeTo(72, 2);
    expect(rates.filter(({ confidence }) => confidence >= 0.5)).to.deep.equal([]);
    const notice = told.find(({ type }) => type === 'notice');
    expect(notice).to.include({ code: 'rate_off', channel: 0, declared_hz: 100 });
    expect(notice?.measured_hz).to.be.closeTo(200, 2);
    const none = told.find(({ code }) => code === 'no_reading');
    expect(none).to.include({ insight: 'hr', reason: 'rate_off' }).and.not.have.property('measured_hz');
  });

  it('trusts a device without a clock that keeps its rate, once the rate is known', async () => {
    const { device, id } = await connected();
    const told = await streamAt(100, device, 30);
    await bench.end(device);
    const rates = await bench.insights(id);
    expect(rates.filter(({ actual_start }) => actual_start < T0 + 10_000).every((r) => r.confidence < 0.5)).to.equal(
      true,
    );
    const settled = rates.filter(({ actual_start }) => actual_start > T0 + 12_000);
    expect(settled.length).to.be.greaterThan(8);
    expect(settled.every(({ value, confidence }) => confidence > 0.8 && Math.abs(value - 72) < 2)).to.equal(true);
    expect(told.filter(({ type }) => type === 'notice')).to.deep.equal([]);
  });

  it('closes open sockets with 4001 when their key expires by the wall clock, also when that steps', async () => {
    const { connect } = await bench.device(gateway);
    const inOneHour = await bench.key({ expiresAt: T0 + 3_600_000 });
    const inTwoHours = await bench.key({ expiresAt: T0 + 7_200_000 });
    const [one, two, three] = [inOneHour.key, inTwoHours.key, undefined].map((key, i) =>
      connect({ device_id: `d-${i}`, ...(key && { api_key: key }) }),
    );
    for (const device of [one, two, three]) await device?.ready();
    bench.clock.step(3_600_000);
    bench.clock.advance(500);
    expect(await one?.code()).to.equal(4001);
    bench.clock.step(-7_200_000);
    bench.clock.step(12_000_000);
    bench.clock.advance(500);
    expect(await two?.code()).to.equal(4001);
    await three?.handled();
  });

  it('takes the times of right stamps as they are once the clock of the gateway is right, too', async () => {
    const { device, id } = await connected();
    bench.clock.step(8 * HOUR_MS);
    stream(device, 0, 1000, T0 + 8 * HOUR_MS - 10_000);
    await device.handled();
    await bench.end(device);
    const rates = await bench.insights(id);
    expect(rates.map(({ actual_end }) => actual_end)).to.include(T0 + 8 * HOUR_MS - 1000);
    expect(rates.at(-1)?.confidence).to.be.greaterThan(0.8);
  });

  it('closes open sockets with 4001 when their key is revoked, and no others', async () => {
    const { device } = await connected();
    const other = await bench.device(gateway, { deviceId: 'other' });
    const otherDevice = other.connect();
    await otherDevice.ready();
    await bench.store.revokeKey(other.keyId, bench.clock.now());
    await gateway.keys.poll();
    expect(await otherDevice.code()).to.equal(4001);
    device.samples(0, 10);
    await device.handled();
  });

  it('does not delay other devices during a back-fill of hours', async () => {
    const { device } = await connected();
    const { connect: connectOther } = await bench.device(gateway, { deviceId: 'other' });
    const other = connectOther();
    await other.ready();
    const instants = 32_000;
    for (let i = 0; i < 30; i++) {
      const seq = i * instants;
      device.send(binary({ seq, ts: T0 - 10 * HOUR_MS + seq * 10 }, pulse(seq, instants)));
    }
    const all = device.handled().then(() => 'all');
    for (let i = 0; i < 5; i++) {
      stream(other, i * 100, i * 100 + 100);
      await other.handled();
    }
    expect(await Promise.race([all, Promise.resolve('some')])).to.equal('some');
    expect(gateway.publisher.accepting).to.equal(true);
    all.catch(() => undefined);
  });

  /**
   * Holds the store so that no message is handled; returns the function that releases it, and resolves when readings are
   * accepted again.
   */
  async function hold(device: TestDevice): Promise<() => Promise<void>> {
    bench.locked = true;
    stream(device, 0, 500, T0 - HOUR_MS);
    await until(() => !gateway.publisher.accepting);
    return () => {
      bench.locked = false;
      return until(() => {
        bench.clock.advance(50);
        return gateway.publisher.accepting;
      });
    };
  }

  it('stops reading empty messages too while messages wait', async () => {
    const { device } = await connected();
    const release = await hold(device);
    for (let i = 0; i < 5000; i++) device.ws.send(new Uint8Array(0));
    await until(() => bench.sockets[0]?.isPaused() === true);
    await release();
    expect(await device.code()).to.equal(4000);
  });

  it('gives up no numbers that wait to be read', async () => {
    const { device } = await connected();
    const temperature = (seq: number) => device.samples(seq, 1, { channel: 1, samples: [1, 2, 3] });
    temperature(0);
    temperature(2);
    const release = await hold(device);
    temperature(1);
    stream(device, 500, 60_000, T0 - HOUR_MS);
    await until(() => bench.sockets[0]?.isPaused() === true);
    bench.clock.advance(5000);
    await release();
    expect(errorsOf(await device.handled())).to.deep.equal([]);
  });

  it('does not treat a device as lost while it reads no data from it', async () => {
    const { device } = await connected();
    const release = await hold(device);
    stream(device, 500, 60_000, T0 - HOUR_MS);
    await until(() => bench.sockets[0]?.isPaused() === true);
    bench.clock.advance(120_000);
    expect(bench.sockets[0]?.destroyed).to.equal(false);
    await release();
  });

  it('gives up no numbers that arrived while the process was paused', async () => {
    const { device } = await connected();
    const temperature = (seq: number) => device.samples(seq, 1, { channel: 1, samples: [1, 2, 3] });
    temperature(0);
    temperature(2);
    await device.handled();
    temperature(1);
    bench.clock.skip(5000);
    bench.clock.advance(0);
    expect(errorsOf(await device.handled())).to.deep.equal([]);
  });

  it('stops reading while the store is unreachable, refuses new devices with 1013, and loses nothing', async () => {
    const { device, id } = await connected();
    const release = await hold(device);
    expect(() => gateway.ingest.check()).to.throw('wait for the store');
    const late = device.handled().then(() => 'handled');
    stream(device, 500, 60_000, T0 - HOUR_MS);
    expect(await connect({ device_id: 'other' }).code()).to.equal(1013);
    expect(await Promise.race([late, Promise.resolve('waiting')])).to.equal('waiting');
    await release();
    expect(await late).to.equal('handled');
    await bench.end(device);
    expect(await bench.insights(id)).to.have.length(597);
  });
});
