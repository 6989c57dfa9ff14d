export const CHANNELS = [
  { index: 0, ch_id: 'a', modality: 'ppg', sample_rate_hz: 100, bit_depth: 16, num_channels: 1, next_seq: 0 },
  { index: 1, ch_id: 'b', modality: 'accel', sample_rate_hz: 50, bit_depth: 16, num_channels: 3, next_seq: 0 },
];
export const LIMITS = { max_frame_bytes: 65_536, max_unacked_ms: 30_000, ack_interval_ms: 500 };

/** The first message of the service to a device, with these changes. */
export function ready(changes: object = {}) {
  return {
    type: 'ready',
    session_id: 's1',
    resumed: false,
    server_time: 0,
    channels: CHANNELS,
    replay_ms: 0,
    limits: LIMITS,
    ...changes,
  };
}
