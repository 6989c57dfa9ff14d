/** The limits that `ready` announces to devices. */
export const LIMITS = {
  /** A larger message closes the connection (1009). */
  max_frame_bytes: 65_536,
  /** Most data time that a device should have unacknowledged, ms. */
  max_unacked_ms: 30_000,
  /** Interval of acknowledgements while data arrive, ms. */
  ack_interval_ms: 500,
} as const;
