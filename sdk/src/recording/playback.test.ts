import { expect } from 'chai';
import type { Device, NumberedSamples } from '../device/device.js';
import { simulate } from '../simulator/simulator.js';
import { play } from './playback.js';

/** A clock that jumps to whatever is waited for, and notes the jumps. */
function jumpingClock(start: number) {
  const clock = {
    time: start,
    waits: [] as number[],
    now: () => clock.time,
    after: (ms: number, run: () => void) => {
      clock.waits.push(ms);
      clock.time += ms;
      queueMicrotask(run);
      return () => {};
    },
  };
  return clock;
}

/** Takes what a device would be given. */
function taker() {
  const sent: NumberedSamples[] = [];
  const device: Pick<Device, 'send' | 'backlogBytes' | 'drained'> = {
    send: (samples) => sent.push(samples),
    backlogBytes: 0,
    drained: async () => {},
  };
  return { sent, device: device as Device };
}

describe('playback', () => {
  it('gives each frame at its time, with its device time', async () => {
    const { sent, device } = taker();
    const clock = jumpingClock(5000);
    await play(simulate({ seconds: 1 }), device, { clock });
    expect(clock.waits).to.deep.equal([200, 200, 200, 200, 200]);
    expect(sent.filter(({ channel }) => channel === 0).map(({ seq, ts }) => [seq, ts])).to.deep.equal([
      [0, 5000],
      [20, 5200],
      [40, 5400],
      [60, 5600],
      [80, 5800],
    ]);
  });

  it('plays faster, and from another start time', async () => {
    const { sent, device } = taker();
    const clock = jumpingClock(5000);
    await play(simulate({ seconds: 1 }), device, { clock, speed: 4, startTime: 100 });
    expect([clock.time, sent[0]?.ts, sent.at(-1)?.ts]).to.deep.equal([5250, 100, 900]);
  });

  it('stops at a given time after the first sample', async () => {
    const { sent, device } = taker();
    const clock = jumpingClock(0);
    await play(simulate(), device, { clock, seconds: 0.5 });
    expect([clock.time, sent.at(-1)?.ts]).to.deep.equal([500, 200]);
  });

  it('stops at the signal', async () => {
    const { sent, device } = taker();
    const abort = new AbortController();
    const source = simulate();
    const frames = source.frames.bind(source);
    const stopping = {
      ...source,
      *frames() {
        for (const frame of frames()) {
          if (frame.at > 600) abort.abort();
          yield frame;
        }
      },
    };
    await play(stopping, device, { clock: jumpingClock(0), signal: abort.signal });
    expect(sent.at(-1)?.ts).to.equal(400);
  });

  it('pauses while the device has too much to send', async () => {
    const { sent, device } = taker();
    const drains: number[] = [];
    const slow = { ...device, backlogBytes: 2 ** 21, drained: async (bytes: number) => void drains.push(bytes) };
    await play(simulate({ seconds: 0.2 }), slow as unknown as Device, { clock: jumpingClock(0) });
    expect([sent.length, drains.length]).to.deep.equal([5, 5]);
  });

  it('stops at the signal while the device has too much to send, and no connection', async () => {
    const { sent, device } = taker();
    const abort = new AbortController();
    const full = { ...device, backlogBytes: 2 ** 21, drained: () => new Promise<void>(() => abort.abort()) };
    await play(simulate(), full as unknown as Device, { clock: jumpingClock(0), signal: abort.signal });
    expect(sent).to.have.length(1);
  });
});
