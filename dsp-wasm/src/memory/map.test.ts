import { expect } from 'chai';
import { ESTIMATORS } from '../estimators.js';
import { SlotCore } from '../instance.js';
import { Kernel } from '../kernel.js';
import { noise, opened, ppg, pushAll } from '../signals.js';

const HZ = 50;
const KINDS = ['ppg_green', 'ppg_red', 'ppg_ir', 'accel', 'resp', 'ecg'] as const;

describe('memory', () => {
  it('of other sessions, and beyond the last one, is not changed by the pushes and steps of a session', async () => {
    const kernel = await Kernel.load(3);
    const core = new SlotCore(kernel, 3);
    const channels = KINDS.map((modality) => ({ modality, sampleRateHz: HZ, numChannels: 1 }));
    const [, session] = [opened(core, channels), opened(core, channels), opened(core, channels)];
    const [slot, bytes] = [kernel.constant('SLOTS') + kernel.constant('SLOT_BYTES'), kernel.constant('SLOT_BYTES')];
    const others = () => [kernel.bytes.slice(slot - bytes, slot), kernel.bytes.slice(slot + bytes)];
    const before = others();
    channels.forEach((_, c) => {
      pushAll(session, c, HZ, c < 3 ? ppg(40, HZ, 70 + c) : noise(40 * HZ, c));
    });
    core.step([36, 40].flatMap((end) => ESTIMATORS.map((estimator) => ({ session, estimator, end }))));
    session.readPeaks(5);
    session.beats('ppg', 0, 40);
    others().forEach((now, i) => {
      expect(Buffer.compare(now, before[i] ?? now)).to.equal(0);
    });
  });
});
