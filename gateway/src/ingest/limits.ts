/** The limits that `ready` announces to devices. */
export interface IngestLimits {
  /** A larger message closes the connection (1009). */
  readonly max_frame_bytes: number;
  /** Most data time that a device should have unacknowledged, ms. */
  readonly max_unacked_ms: number;
  readonly ack_interval_ms: number;
}
