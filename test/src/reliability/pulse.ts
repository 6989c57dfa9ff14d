import type { DeviceModelDraft } from '@device-insights/sdk';

export const RATE_HZ = 25;
/** True rates of the wearer, per minute. */
export const HEART_RATE = 72;
const BREATH_RATE = 15;
/** Time after which pulse and breath start again together, seconds. */
const PERIOD_S = 20;

/**
 * Green light of a wrist: the simplest device that gives readings (hr every second from the fourth on, rr every two
 * from the 32nd on).
 */
export const PULSE_MODEL = {
  name: 'Pulse',
  description: '',
  firmware_version: '',
  modality_channels: [{ modality: 'ppg_green', sample_rate_hz: RATE_HZ, bit_depth: 18, num_channels: 1 }],
} satisfies DeviceModelDraft;

const PERIOD = Float64Array.from({ length: PERIOD_S * RATE_HZ }, (_, n) => light(n / RATE_HZ));

/** Samples `from` to before `from + count` of the pulse, counts. */
export function pulse(from: number, count: number): Float64Array {
  return Float64Array.from({ length: count }, (_, i) => PERIOD[(from + i) % PERIOD.length] ?? 0);
}

function light(t: number): number {
  const beat = (2 * Math.PI * HEART_RATE * t) / 60;
  const breath = Math.sin((2 * Math.PI * BREATH_RATE * t) / 60);
  const wave = Math.sin(beat) + 0.4 * Math.sin(2 * beat + 1);
  return Math.round(100_000 * (1 - 0.03 * wave * (1 + 0.15 * breath)) + 300 * breath);
}
