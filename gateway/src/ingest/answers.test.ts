import { expect } from 'chai';
import { Bench, type Gateway, type ServerMessage, T0, type TestDevice } from './bench.fixture.js';
import { binary, channel, int16 } from './frames.fixture.js';

const errorsOf = (messages: ServerMessage[]) => messages.filter(({ type }) => type === 'error');
const acksOf = (messages: ServerMessage[]) => messages.filter(({ type }) => type === 'ack');

describe('The service, to a device,', () => {
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

  describe('acknowledges', () => {
    it('received data after 500 ms, for every channel that has begun', async () => {
      const { device } = await connected();
      device.samples(0, 10);
      expect(await device.handled()).to.deep.equal([]);
      bench.clock.advance(500);
      expect(await device.next('ack')).to.deep.equal({ type: 'ack', next_seq: { 0: 10 }, server_time: T0 + 500 });
      device.samples(10, 10);
      device.samples(7, 2, { channel: 1, samples: [1, 2, 3, 4, 5, 6] });
      await device.handled();
      bench.clock.advance(500);
      expect(await device.next('ack')).to.deep.include({ next_seq: { 0: 20, 1: 9 } });
    });

    it('nothing while no data arrive', async () => {
      const { device } = await connected();
      device.samples(0, 10);
      await device.handled();
      bench.clock.advance(5000);
      expect(acksOf(await device.handled())).to.have.length(1);
    });

    it('at once when 5 s of data time have arrived', async () => {
      const { device } = await connected();
      device.samples(0, 499);
      device.samples(499, 1);
      expect(acksOf(await device.handled())).to.deep.equal([{ type: 'ack', next_seq: { 0: 500 }, server_time: T0 }]);
    });

    it('repeated data again, because the device may have missed the first acknowledgement', async () => {
      const { device } = await connected();
      device.samples(0, 10);
      await device.handled();
      bench.clock.advance(500);
      await device.next('ack');
      device.samples(0, 10);
      await device.handled();
      bench.clock.advance(500);
      await device.next('ack');
    });

    it('only up to a gap, until the gap is given up after 2 s', async () => {
      const { device } = await connected();
      device.samples(0, 10);
      device.samples(20, 10);
      await device.handled();
      bench.clock.advance(500);
      expect(await device.next('ack')).to.deep.include({ next_seq: { 0: 10 } });
      bench.clock.advance(1500);
      device.samples(30, 10);
      await device.handled();
      bench.clock.advance(500);
      expect(await device.next('ack')).to.deep.include({ next_seq: { 0: 40 } });
    });

    it('a gap given up with nothing new after it, so that the device need not wait', async () => {
      const { device } = await connected();
      device.samples(0, 10);
      device.samples(20, 10);
      await device.handled();
      bench.clock.advance(500);
      expect(await device.next('ack')).to.deep.include({ next_seq: { 0: 10 } });
      bench.clock.advance(2500);
      expect(await device.next('ack')).to.deep.include({ next_seq: { 0: 30 } });
    });
  });

  describe('notices', () => {
    it('to the device that its numbers count frames', async () => {
      const { device } = await connected();
      const told: ServerMessage[] = [];
      for (let k = 0; k < 60; k++) {
        device.samples(k, 10, { ts: T0 + 100 * k });
        told.push(...(await device.handled()));
        bench.clock.advance(100);
      }
      const [notice, ...others] = told.filter(({ type }) => type === 'notice');
      expect(notice).to.include({ code: 'frames_overlap', channel: 0 });
      expect(others).to.deep.equal([]);
    });

    it('to the device about the numbers of a fast upload, before the acknowledgement of the same data', async () => {
      const { device } = await connected();
      for (let k = 0; k < 60; k++) device.samples(20 * k, 10, { ts: T0 - 60_000 + 100 * k });
      const told = (await device.handled()).filter(({ type }) => type === 'notice' || type === 'ack');
      expect(told[0]).to.include({ type: 'notice', code: 'all_lost', channel: 0 });
      expect(told.map(({ type }) => type)).to.include('ack');
    });

    it('at once that no algorithm of the account reads the channels, and which modalities would be read', async () => {
      const { connect: other } = await bench.device(gateway, { channels: [channel({ modality: 'temperature' })] });
      const device = other({ device_id: 'thermometer' });
      await device.ready();
      const { modalities, ...notice } = await device.next('notice');
      expect(notice).to.include({ code: 'not_analysed' }).and.not.have.property('channel');
      expect(modalities).to.include.members(['ecg', 'ppg', 'resp']);
    });

    it('that a channel comes after the windows that need it, and when that is over', async () => {
      const { connect: other } = await bench.device(gateway, {
        channels: [channel(), channel({ modality: 'accel', num_channels: 3 })],
      });
      const device = other({ device_id: 'band-2' });
      await device.ready();
      const past = (seq: number) => T0 - 60_000 + seq * 10;
      const light = (seq: number) => device.samples(seq, 100, { ts: past(seq) });
      const motion = (seq: number) =>
        device.samples(seq, 100, { ts: past(seq), channel: 1, samples: new Array(300).fill(1) });
      for (let seq = 0; seq < 1000; seq += 100) motion(seq);
      for (let seq = 0; seq < 1000; seq += 100) light(seq);
      const told = (await device.handled()).filter(({ type }) => type === 'notice');
      expect(told.map(({ code, channel, over }) => [code, channel, over])).to.deep.equal([
        ['channel_late', 0, undefined],
        ['channel_late', 0, true],
      ]);
    });

    it('why there is no reading, again after a reconnect, and when there is one', async () => {
      const { connect: other } = await bench.device(gateway, { channels: [channel()] });
      /** Sends these seconds of light in real time; returns the notices. */
      const light = async (device: TestDevice, from: number, to: number, level: (t: number) => number) => {
        const told: object[] = [];
        for (let seq = 100 * from; seq < 100 * to; seq += 100) {
          const samples = Array.from({ length: 100 }, (_, i) => Math.round(level((seq + i) / 100)));
          device.samples(seq, 100, { samples });
          const notices = (await device.handled()).filter(({ type }) => type === 'notice');
          told.push(...notices.map(({ detail: _, ...notice }) => notice));
          bench.clock.advance(1000);
        }
        return told;
      };
      const noContact = {
        type: 'notice',
        code: 'no_reading',
        insight: 'hr',
        reason: 'no_contact',
        algorithm: 'hr-ppg',
      };
      const air = (t: number) => 900 + (t % 0.03) * 100;
      const pulse = (t: number) => 80_000 - 800 * Math.exp(-((((1.2 * t + 0.02 * Math.sin(t)) % 1) - 0.3) ** 2) / 0.02);

      const device = other({ device_id: 'band-3' });
      await device.ready();
      expect(await light(device, 0, 19, air)).to.deep.equal([]);
      const [first] = await light(device, 19, 21, air);
      expect(first).to.deep.include(noContact).and.to.have.property('level').closeTo(900, 5);
      device.ws.close();
      await device.closed;

      const again = other({ device_id: 'band-3' });
      expect((await again.ready()).resumed).to.equal(true);
      const { detail: _, ...repeated } = await again.next('notice');
      expect(repeated).to.deep.equal(first);
      const over = { type: 'notice', code: 'no_reading', insight: 'hr', over: true };
      expect(await light(again, 21, 45, pulse)).to.deep.equal([over]);
    });

    it('why there was none in a session that ends early', async () => {
      const { device } = await connected();
      device.samples(0, 300);
      device.send({ type: 'end' });
      const hr = await device.next('notice');
      expect(hr).to.include({ code: 'no_reading', insight: 'hr', reason: 'no_contact', algorithm: 'hr-ppg' });
      await device.next('ended');
    });

    it('nothing for a device with correct data', async () => {
      const { device } = await connected();
      expect((await device.handled()).filter(({ type }) => type === 'notice')).to.deep.equal([]);
    });
  });

  describe('refuses', () => {
    it('a frame with its code, text, channel and number, and continues', async () => {
      const { device } = await connected();
      device.send(binary({ channel: 9, seq: 42 }, int16(1)));
      device.samples(0, 10);
      const [error] = errorsOf(await device.handled());
      expect(error).to.deep.include({ code: 'unknown_channel', channel: 9, seq: 42 });
      expect(error?.detail).to.be.a('string').that.is.not.empty;
      bench.clock.advance(500);
      expect(await device.next('ack')).to.deep.include({ next_seq: { 0: 10 } });
    });

    it('text that is not JSON, and unknown message types', async () => {
      const { device } = await connected();
      device.ws.send('{');
      device.send({ type: 'hello' });
      expect(errorsOf(await device.handled()).map(({ code }) => code)).to.deep.equal(['bad_json', 'bad_message']);
    });

    it('numbers that were given up, and times in the future', async () => {
      const { device } = await connected();
      device.samples(100, 10);
      device.samples(0, 10);
      device.samples(110, 10, { ts: T0 + 60_001 });
      expect(errorsOf(await device.handled()).map(({ code, seq }) => [code, seq])).to.deep.equal([
        ['too_late', 0],
        ['in_future', 110],
      ]);
    });

    it('stored data without a clock, of which it acknowledges nothing', async () => {
      const { device } = await connected();
      for (let k = 0; k < 600; k++) device.samples(100 * k, 100, { ts: null });
      const errors = errorsOf(await device.handled());
      expect(errors).to.have.length(10);
      expect(errors[0]).to.include({ code: 'too_fast', channel: 0 }).and.have.property('seq').that.is.at.most(300);
      expect(errors[0]?.detail).to.include('send ts');
      bench.clock.advance(3000);
      const acks = acksOf(await device.handled()).map(({ next_seq }) => (next_seq as Record<string, number>)[0]);
      expect(acks.every((next) => next === errors[0]?.seq)).to.equal(true);
    });

    it('times in microseconds or of the other byte order, with the unit and the order that are expected', async () => {
      const { device } = await connected();
      device.samples(0, 10, { ts: T0 * 1000 });
      const swapped = binary({ seq: 0, ts: T0 }, int16(1));
      swapped.subarray(8, 16).reverse();
      device.send(swapped);
      const details = errorsOf(await device.handled()).map(({ detail }) => detail);
      expect(details).to.have.length(2);
      for (const detail of details) expect(detail).to.include('ms since the epoch').and.include('little-endian');
    });

    it('more than 10 frames a second silently', async () => {
      const { device } = await connected();
      for (let i = 0; i < 30; i++) device.ws.send('{');
      expect(errorsOf(await device.handled())).to.have.length(10);
      bench.clock.advance(1000);
      device.ws.send('{');
      expect(errorsOf(await device.handled())).to.have.length(1);
    });

    it('the connection itself, with 4000, after more than 1,000 in a row', async () => {
      const { device } = await connected();
      for (let i = 0; i < 1000; i++) device.ws.send('{');
      await device.handled();
      device.ws.send('{');
      expect(await device.code()).to.equal(4000);
    });

    it('times before 2000, except those since power-on of a device that connected with its clock', async () => {
      const { device } = await connected();
      device.samples(0, 10, { ts: 1_763_600_000 });
      device.send(binary({ seq: 0, ts: 5000 }, int16(1)));
      expect(errorsOf(await device.handled()).map(({ code }) => code)).to.deep.equal(['bad_value', 'bad_value']);
      const { device: started } = await connected({ device_id: 'started', clock: '5000' });
      started.samples(0, 10, { ts: 4000 });
      started.send(binary({ seq: 10, ts: 4100 }, int16(1)));
      expect(errorsOf(await started.handled())).to.deep.equal([]);
    });

    it('any number of late or future frames without closing, because they are not faults', async () => {
      const { device } = await connected();
      device.samples(1000, 10);
      for (let i = 0; i < 600; i++) {
        device.samples(0, 10);
        device.samples(1010, 10, { ts: T0 + 60_001 });
      }
      device.ws.send('{');
      await device.handled();
      for (let i = 0; i < 999; i++) device.ws.send('{');
      await device.handled();
      device.ws.send('{');
      expect(await device.code()).to.equal(4000);
    });

    it('only frames without a correct frame between them as a row', async () => {
      const { device } = await connected();
      for (let i = 0; i < 1000; i++) device.ws.send('{');
      device.samples(0, 1);
      for (let i = 0; i < 1000; i++) device.ws.send('{');
      await device.handled();
    });

    it('messages larger than the limit with 1009 and a reason that names it, and accepts one of that size', async () => {
      const { device } = await connected();
      device.send(binary({}, new Uint8Array(65_536 - 16)));
      expect(errorsOf(await device.handled())).to.deep.equal([]);
      device.send(binary({}, new Uint8Array(65_536 - 16 + 1)));
      expect(await device.closed).to.include({ code: 1009, reason: 'a message is larger than 65536 bytes' });
    });
  });
});
