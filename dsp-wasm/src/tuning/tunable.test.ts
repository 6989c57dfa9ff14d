import { expect } from 'chai';
import { type Core, type CoreChannel, createCore, ENCODING, type Estimate } from '../core.js';
import { opened, payload } from '../signals.js';
import { readConstants } from './constants.js';
import { compileTunable, TunableCore } from './tunable.js';

const GREEN: CoreChannel = { modality: 'ppg_green', sampleRateHz: 32, numChannels: 1 };

/** The last heart rate of 20 s of a pulse of 72 bpm. */
function heartRate(core: Core): Estimate | null {
  const session = opened(core, [GREEN]);
  const pulse = Array.from({ length: 20 * 32 }, (_, i) => {
    const phase = (2 * Math.PI * 1.2 * i) / 32;
    return 1000 + 10 * Math.sin(phase) + 3 * Math.sin(2 * phase);
  });
  session.push(0, 0, 1 / 32, ENCODING.float32, payload(pulse));
  const ends = Array.from({ length: 12 }, (_, i) => 8 + i);
  return core.step(ends.map((end) => ({ session, estimator: 'hr_ppg', end }))).at(-1) ?? null;
}

describe('a core with other constants', () => {
  const constants = readConstants();
  let tunable: TunableCore;

  before(async function () {
    this.timeout(180_000);
    tunable = await TunableCore.load(await compileTunable('none'), constants);
  });

  it('gives exactly the estimates of the core if no constant is changed', async () => {
    const estimate = heartRate(await createCore({ maxSessions: 1 }));
    expect(estimate?.value).to.be.closeTo(72, 0.5);
    expect(heartRate(await tunable.open())).to.deep.equal(estimate);
  });

  it('gives another confidence if the usual rate is halved', async () => {
    const constant = constants.find(({ name }) => name === 'TRACK.USUAL_RATE');
    if (constant?.value == null) throw new Error('no TRACK.USUAL_RATE');
    const before = heartRate(await tunable.open());
    const changed = heartRate(await tunable.open({ constant, value: constant.value / 2 }));
    expect(changed?.value).to.equal(before?.value);
    expect(changed?.confidence).to.not.equal(before?.confidence);
  });
});
