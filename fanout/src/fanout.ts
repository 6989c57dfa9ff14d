import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Bus } from './bus/bus.js';
import type { Counters } from './counters.js';
import type { KeyCheck } from './keys/key-check.js';
import { FanoutNode } from './node.js';
import type { Clock } from './process/clock.js';
import type { Log } from './process/log.js';

export { CLOSE, type CloseReason, closeReason } from './close-codes.js';
export { hasExpired, type KeyCheck, type KeyHolder, PERMISSIONS, type Permission } from './keys/key-check.js';

export interface FanoutOptions {
  readonly bus: Bus;
  readonly keys: KeyCheck;
  readonly log: Log;
  /** A subscriber whose oldest unfinished write is older than this is closed (1013), ms. Default 10 s. */
  readonly maxLagMs?: number;
  /** A subscriber with more unsent bytes than this is closed (1013). Default 4 MiB. */
  readonly maxBufferedBytes?: number;
  /**
   * Time for which messages are collected before they are sent, ms. Default 0: to the end of the turn of the event
   * loop, which is no noticeable delay; a few ms save writes if accounts are busy and their messages arrive one by one.
   */
  readonly flushMs?: number;
  /** Default: the system's. */
  readonly clock?: Clock;
}

/** The subscriber sockets of one node: mounted in the gateway, or alone. */
export interface Fanout {
  /**
   * Handles an HTTP upgrade of `/stream/subscribe`. It is accepted, so that a refusal is a close code; the answer is
   * 503 if too many sockets wait.
   */
  handleUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  /** Open subscriber sockets, including those not yet admitted. */
  readonly connections: number;
  readonly counters: Readonly<Counters>;
  /** Age of the oldest write that the kernel has not completely accepted, over all subscribers, ms. */
  readonly lagMs: number;
  /**
   * From now on, refuses connections with 1012; closes the open sockets with 1012, spread over `windowMs`; resolves
   * when all are closed.
   */
  drain(windowMs: number): Promise<void>;
}

/** The subscriber sockets over a bus and a key check; call its `handleUpgrade` for upgrades of `/stream/subscribe`. */
export function createFanout(options: FanoutOptions): Fanout {
  return new FanoutNode(options);
}
