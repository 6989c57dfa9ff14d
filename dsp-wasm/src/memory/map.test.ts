import { expect } from 'chai';
import type { Estimator } from '../core.js';
import { SlotCore } from '../instance.js';
import { Kernel } from '../kernel.js';
import { type KernelCalls, noise, ppg, pushAll } from '../signals.js';

const HZ = 50;
const LINE = 64;

/** The regions that all sessions share, in order, and how long each is. */
const REGIONS = ['STAGING', 'REQUEST', 'RESULT', 'PUSH', 'LANE_COUNTS', 'FEATURES', 'DECODED', 'SCRATCH', 'RESAMPLED'];

describe('memory map', () => {
  let kernel: Kernel;

  before(async () => {
    kernel = await Kernel.load(3, 'kernels.wasm');
  });

  const constant = (name: string) => kernel.constant(name);

  it('begins each shared region at the end of the previous one, and the slots after the last one', () => {
    const ends = REGIONS.map((name) => constant(name) + constant(`${name}_BYTES`));
    expect([...REGIONS.slice(1), 'SLOTS'].map(constant)).to.deep.equal(ends);
    expect((kernel.call as unknown as KernelCalls).dataEnd()).to.be.at.most(constant('STAGING'));
  });

  it('begins each part of a slot in the first cache line after the previous part', () => {
    const parts = [
      ['SLOT_CHANNELS', constant('MAX_CHANNELS') * constant('CHANNEL_BYTES')],
      ['SLOT_PULSE', constant('PULSE_STATE_BYTES')],
      ['SLOT_BREATH', constant('BREATH_STATE_BYTES')],
      ['SLOT_BEATS', constant('BEATS_STATE_BYTES')],
      ['SLOT_SPO2', constant('SPO2_STATE_BYTES')],
      ['SLOT_ECG', constant('ECG_STATE_BYTES')],
      ['SLOT_POOL', constant('POOL_BYTES')],
    ] as const;
    const ends = parts.map(([name, bytes]) => Math.ceil((constant(name) + bytes) / LINE) * LINE);
    expect(parts.slice(1).map(([name]) => constant(name))).to.deep.equal(ends.slice(0, -1));
    expect(constant('SLOT_BYTES') - (ends.at(-1) ?? 0)).to.be.within(0, LINE);
  });

  /** A session of the middle slot with 40 s of every signal, but of the ECG only where it is asked for, between two others. */
  function openAll(withEcg: boolean) {
    const core = new SlotCore(kernel, 3);
    const kinds = ['ppg_green', 'ppg_red', 'ppg_ir', 'accel', 'resp', ...(withEcg ? ['ecg' as const] : [])] as const;
    const channels = kinds.map((modality) => ({ modality, sampleRateHz: HZ, numChannels: 1 }));
    const sessions = [0, 1, 2].map(() => core.open(channels));
    const session = sessions[1];
    if (!session) throw new Error('the core is full');
    channels.forEach((_, c) => {
      pushAll(session, c, HZ, c < 3 ? ppg(40, HZ, 70 + c) : noise(40 * HZ, c));
    });
    return { core, session };
  }

  /** Addresses that a call changes. */
  function changedBy(call: () => unknown): number[] {
    const before = kernel.bytes.slice();
    call();
    return [...kernel.bytes.keys()].filter((at) => kernel.bytes[at] !== before[at]);
  }

  /** The state of each estimator, and the end of what it uses of the scratch memory; pulse and spo2 use it for reasons alone. */
  const estimators: Record<Estimator, { state: [string, string]; scratchEnd: string }> = {
    hr_ppg: { state: ['SLOT_PULSE', 'PULSE_STATE_BYTES'], scratchEnd: 'RESAMPLED' },
    hr_ecg: { state: ['SLOT_ECG', 'ECG_STATE_BYTES'], scratchEnd: 'ECG_SCRATCH_END' },
    spo2: { state: ['SLOT_SPO2', 'SPO2_STATE_BYTES'], scratchEnd: 'RESAMPLED' },
    rr_ppg: { state: ['SLOT_BREATH', 'BREATH_STATE_BYTES'], scratchEnd: 'BREATH_SCRATCH_END' },
    rr_ecg: { state: ['SLOT_BREATH', 'BREATH_STATE_BYTES'], scratchEnd: 'BREATH_SCRATCH_END' },
    hrv_ecg: { state: ['SLOT_BEATS', 'BEATS_STATE_BYTES'], scratchEnd: 'BEATS_SCRATCH_END' },
    hrv_ppg: { state: ['SLOT_BEATS', 'BEATS_STATE_BYTES'], scratchEnd: 'BREATH_SCRATCH_END' },
    rhythm_ecg: { state: ['SLOT_BEATS', 'BEATS_STATE_BYTES'], scratchEnd: 'BEATS_SCRATCH_END' },
    rhythm_ppg: { state: ['SLOT_BEATS', 'BEATS_STATE_BYTES'], scratchEnd: 'BREATH_SCRATCH_END' },
    rr_resp: { state: ['SLOT_BREATH', 'BREATH_STATE_BYTES'], scratchEnd: 'BREATH_SCRATCH_END' },
  };

  it('keeps the working arrays of every folder within the scratch memory', () => {
    for (const { scratchEnd } of Object.values(estimators)) {
      expect(constant(scratchEnd)).to.be.at.most(constant('SCRATCH') + constant('SCRATCH_BYTES'));
    }
  });

  for (const [estimator, { state, scratchEnd }] of Object.entries(estimators)) {
    it(`lets ${estimator} write to its own state, the activity, scratch and working arrays alone`, () => {
      const { core, session } = openAll(estimator.endsWith('ecg'));
      core.step([{ session, estimator: 'hr_ecg', end: 36 }]); // detectors have come so far
      const slot = constant('SLOTS') + constant('SLOT_BYTES');
      const allowed = [
        [0, (kernel.call as unknown as KernelCalls).dataEnd()],
        [constant('REQUEST'), constant('DECODED')],
        [constant('SCRATCH'), constant(scratchEnd)],
        [slot + constant('SLOT_ACTIVITY'), slot + constant('SLOT_ACTIVITY') + constant('ACTIVITY_BYTES')],
        [slot + constant(state[0]), slot + constant(state[0]) + constant(state[1])],
      ] as [number, number][];
      kernel.bytes.fill(0xa5, constant('SCRATCH'), constant('RESAMPLED'));
      const changed = changedBy(() => core.step([{ session, estimator: estimator as Estimator, end: 36 }]));
      expect(changed.filter((at) => !allowed.some(([from, to]) => at >= from && at < to))).to.deep.equal([]);
    });
  }
});
