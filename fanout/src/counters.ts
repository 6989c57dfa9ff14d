/**
 * What the subscriber sockets of one node have done since it started. Summed over all messages, the subscribers
 * connected when a message went out are those it was delivered to, dropped for, or kept from (`connected` = `delivered` + `dropped` +
 * `filtered`, once nothing is under way).
 */
export class Counters {
  /** Messages times the subscribers of their account at that moment. */
  connected = 0;
  /** Deliveries handed to the kernel. */
  delivered = 0;
  /** Deliveries that a subscriber did not get because its socket was closing or evicted. */
  dropped = 0;
  /** Deliveries kept back because the message is not of the subscriber's user. */
  filtered = 0;
  /** Subscribers closed because they could not follow. */
  evicted = 0;
  /** Holes that the bus has reported: each stands for an unknown number of messages of one account. */
  holes = 0;
}
