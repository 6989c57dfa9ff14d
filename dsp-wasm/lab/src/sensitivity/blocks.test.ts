import { compileTunable, halfAndTwice, readConstants, TunableCore } from '@device-insights/dsp-wasm/tuning';
import type { Frame, FrameSource } from '@device-insights/sdk';
import { expect } from 'chai';
import { Draws } from '../motion-bench/random.js';
import { scoreCases } from './blocks.js';
import type { Case } from './cases.js';
import { report } from './report.js';

const HZ = 32;
const SECONDS = 80;
const GROUP = 'hr at rest';

/** A pulse of 72 bpm in noise as a recording. */
const PULSE: FrameSource = {
  id: 'pulse',
  deviceModel: {
    ...{ name: 'pulse', description: '', firmware_version: '1' },
    modality_channels: [{ modality: 'ppg_green', sample_rate_hz: HZ, bit_depth: 32, num_channels: 1 }],
  },
  frames: function* (): Generator<Frame> {
    const draws = new Draws(1);
    for (let second = 0; second < SECONDS; second++) {
      const samples = Float64Array.from({ length: HZ }, (_, i) => {
        const phase = 2 * Math.PI * 1.2 * (second + i / HZ);
        return 1000 + 10 * Math.sin(phase) + 3 * Math.sin(2 * phase) + 8 * draws.normal();
      });
      yield { channel: 0, seq: second * HZ, ts: 1000 * second, samples, at: 1000 * (second + 1) };
    }
  },
};

const CASE: Case = {
  source: PULSE,
  reference: {
    ...{ id: 'pulse', seconds: SECONDS, types: ['hr'] },
    windows: Array.from({ length: 33 }, (_, i) => ({ end: 8 + 2 * i, values: { hr: 72 } })),
  },
  curve: null,
  groupOf: () => GROUP,
};

describe('the sensitivity to a constant', () => {
  it('has one row with the readings at half and at twice its value', async function () {
    this.timeout(180_000);
    const constants = readConstants();
    const constant = constants.find(({ name }) => name === 'TRACK.RATE_CHANGE');
    if (!constant) throw new Error('no TRACK.RATE_CHANGE');
    const tunable = await TunableCore.load(await compileTunable('none'), constants);
    const scoreAt = async (value?: number) =>
      scoreCases([CASE], [GROUP], await tunable.open(value === undefined ? undefined : { constant, value }));
    const { half, twice } = halfAndTwice(constant);
    const base = await scoreAt();
    expect(base.map(({ windows, answered }) => [windows, answered])).to.deep.equal([
      [30, 30],
      [3, 3],
    ]);
    const trial = { constant, half, twice, atHalf: await scoreAt(half), atTwice: await scoreAt(twice) };
    const row = report(base, [GROUP], [trial]).split('\n')[3];
    expect(row).to.match(/^\| TRACK.RATE_CHANGE \| 2 \| 1, 4 \| /);
    expect([trial.atHalf, trial.atTwice]).to.not.deep.equal([base, base]);
  });
});
