import type { CloseReason } from '@device-insights/contract/close-codes';

/**
 * The counters of the subscriber sockets of one node since its start. Summed over all messages, each subscriber that
 * was connected when a message was sent counts as delivered to, dropped or filtered (`connected` = `delivered` +
 * `dropped` + `filtered`, once nothing is in flight).
 */
export class Counters {
  /** Messages multiplied by the subscribers of their account at that time. */
  connected = 0;
  /** Deliveries that the kernel accepted. */
  delivered = 0;
  /** Deliveries that failed: the subscriber's socket was closing or evicted, or its account published too much. */
  dropped = 0;
  /**
   * Deliveries that were not made because the message does not belong to the subscriber's user, or was published before
   * the subscriber came.
   */
  filtered = 0;
  /** Subscribers closed because they were too slow. */
  evicted = 0;
  /** Losses that the bus has reported: each stands for an unknown number of messages of one account. */
  losses = 0;
  /** Subscribers that were never admitted, by the reason that they were told. */
  readonly refused = new Map<CloseReason, number>();
}
