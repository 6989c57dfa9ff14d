import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { createCore, ENCODING } from './core.js';
import { FEATURES, MODELS } from './features.js';
import { opened, payload } from './signals.js';
import { ASSEMBLY } from './tuning/constants.js';

const HZ = 32;
const SECONDS = 16;

/** A session with a pulse of 90 bpm on an arm that swings 66 times a minute. */
async function pulse() {
  const core = await createCore({ maxSessions: 1 });
  const channels = [
    { modality: 'ppg_green', sampleRateHz: HZ, numChannels: 1 },
    { modality: 'accel', sampleRateHz: HZ, numChannels: 1 },
  ] as const;
  const session = opened(core, channels);
  const wave = (rate: number, size: number, level: number) =>
    payload(
      Array.from({ length: SECONDS * HZ }, (_, i) => level + size * Math.sin((2 * Math.PI * rate * i) / HZ / 60)),
    );
  session.push(0, 0, 1 / HZ, ENCODING.float32, wave(90, 10, 1000));
  session.push(1, 0, 1 / HZ, ENCODING.float32, wave(66, 0.3, 1));
  return { core, session };
}

describe('the features of an answer', () => {
  it('are those of the model by which its confidence was computed', async () => {
    const { core, session } = await pulse();
    const ends = Array.from({ length: SECONDS - 8 }, (_, i) => 8 + i);
    core.step(ends.map((end) => ({ session, estimator: 'hr_ppg', end })));
    const features = core.features();
    expect(features?.model).to.equal('hr_ppg_motion');
    const seenApart = features?.values[FEATURES.hr_ppg_motion.indexOf('+seen_apart')];
    expect(seenApart).to.be.within(0.5, 1);
  });

  it('are none after an answer without a model', async () => {
    const { core, session } = await pulse();
    core.step([{ session, estimator: 'hr_ppg', end: 8 }]);
    core.step([{ session, estimator: 'spo2', end: 8 }]);
    expect(core.features()).to.equal(null);
  });

  it('are numbered by the core as by the host, and fit into its memory', () => {
    const text = readFileSync(new URL('memory/features.ts', ASSEMBLY), 'utf8');
    const [, members = ''] = /enum Model \{([^}]*)\}/.exec(text) ?? [];
    const names = members.split(',').map((name) => name.trim().toLowerCase());
    expect(names.filter((name) => name !== '')).to.deep.equal(['none', ...MODELS]);
    for (const model of MODELS) expect(FEATURES[model].length, model).to.be.at.most(32);
  });
});
