import { expect } from 'chai';
import { type Core, createCore, ENCODING, type Estimate, FEATURES } from '../core.js';
import { MODELS } from '../features.js';
import { noise, payload } from '../signals.js';
import { compileWeighed, readTables, WeighedCore } from './weights.js';

const HZ = 32;
const SECONDS = 20;

/** The last heart rate of a pulse of 90 bpm on an arm that swings. */
function heartRate(core: Core): Estimate | null {
  const session = core.open([
    { modality: 'ppg_green', sampleRateHz: HZ, numChannels: 1 },
    { modality: 'accel', sampleRateHz: HZ, numChannels: 1 },
  ]);
  if (!session) throw new Error('the core is full');
  const wave = (rate: number, size: number, level: number) =>
    noise(SECONDS * HZ, rate).map((v, i) => level + size * (Math.sin((2 * Math.PI * rate * i) / HZ / 60) + v / 5));
  session.push(0, 0, 1 / HZ, ENCODING.float32, payload(wave(90, 10, 1000)));
  session.push(1, 0, 1 / HZ, ENCODING.float32, payload(wave(66, 0.3, 1)));
  const ends = Array.from({ length: SECONDS - 8 }, (_, i) => 8 + i);
  return core.step(ends.map((end) => ({ session, estimator: 'hr_ppg', end }))).at(-1) ?? null;
}

describe('the tables of fitted weights', () => {
  it('have each a weight without evidence, and one for each feature of their model', () => {
    const lengths = new Map(readTables().map(({ name, weights }) => [name, weights.length]));
    for (const model of MODELS) {
      const count = FEATURES[model].length;
      if (count > 0) expect(lengths.get(model), model).to.equal(count + 1);
    }
  });

  it('can be exchanged in a core: with their own numbers it gives the same estimates, with others another confidence', async function () {
    this.timeout(180_000);
    const weighed = await WeighedCore.load(await compileWeighed('none'));
    const committed = heartRate(await createCore({ maxSessions: 1 }));
    const own = Object.fromEntries(readTables().map(({ name, weights }) => [name, weights]));
    expect(heartRate(await weighed.open(own))).to.deep.equal(committed);
    const { hr_ppg_motion: [bias = 0, ...rest] = [] } = own;
    const doubting = heartRate(await weighed.open({ hr_ppg_motion: [bias - 9, ...rest] }));
    expect(doubting?.value).to.equal(committed?.value);
    expect(doubting?.confidence).to.be.lessThan(committed?.confidence ?? 0);
    let fault: unknown;
    await weighed.open({ hr_ppg_motion: [1] }).catch((error: unknown) => {
      fault = error;
    });
    expect(fault).to.be.instanceOf(Error);
  });
});
