import { ManualClock } from '@device-insights/fanout/platform/manual-clock.fixture';
import { expect } from 'chai';
import { Heartbeat } from './heartbeat.js';

const START = 1_763_600_000_000;

describe('the heartbeat of a gateway', () => {
  let clock: ManualClock;
  let written: number[];
  let isDown: boolean;
  let heartbeat: Heartbeat;

  beforeEach(() => {
    clock = new ManualClock(START);
    written = [];
    isDown = false;
    const beat = async (_gateway: string, at: number) => {
      if (isDown) throw new Error('the store does not answer');
      written.push(at);
    };
    heartbeat = new Heartbeat({ beat }, 'me', clock);
  });

  it('is renewed before the first one, and when the last one is old', async () => {
    await heartbeat.renew();
    await heartbeat.renew();
    clock.advance(2500);
    await heartbeat.renew();
    expect(written).to.deep.equal([START]);
    clock.advance(1);
    await heartbeat.renew();
    expect(written).to.deep.equal([START, START + 2501]);
  });

  it('is renewed once for all that ask together', async () => {
    await Promise.all(Array.from({ length: 1000 }, () => heartbeat.renew()));
    expect(written).to.have.length(1);
  });

  it('cannot be renewed while the store does not answer, and can afterwards', async () => {
    isDown = true;
    const refusals = await Promise.allSettled([heartbeat.renew(), heartbeat.renew(), heartbeat.beat()]);
    expect(refusals.map(({ status }) => status)).to.deep.equal(['rejected', 'rejected', 'rejected']);
    isDown = false;
    await heartbeat.renew();
    expect(written).to.deep.equal([START]);
  });
});
