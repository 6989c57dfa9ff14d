import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Bus } from './bus/bus.js';
import type { Clock } from './clock.js';
import type { Counters } from './counters.js';
import type { KeyCheck } from './keys.js';
import { FanoutNode } from './node.js';

export { CLOSE, type CloseReason } from './close-codes.js';
export type { KeyCheck, KeyHolder } from './keys.js';

/** What the subscriber sockets log; pino's logger fits. */
export interface Log {
  info(fields: object, text: string): void;
  warn(fields: object, text: string): void;
  error(fields: object, text: string): void;
}

export interface FanoutOptions {
  readonly bus: Bus;
  readonly keys: KeyCheck;
  readonly log: Log;
  /** A subscriber whose oldest unfinished write is older than this is evicted (1013), ms. Default 10 s. */
  readonly maxLagMs?: number;
  /** A subscriber with more than this much unsent is evicted (1013), bytes. Default 4 MiB. */
  readonly maxBufferedBytes?: number;
  /**
   * How long messages are gathered before they go out, ms. Default 0: to the end of the turn of the event loop, which is no delay
   * to speak of; a few ms spare writes where accounts are hot and their messages trickle in.
   */
  readonly flushMs?: number;
  /** Default: the system's. */
  readonly clock?: Clock;
}

/** The subscriber sockets of one node: mounted in the gateway, or alone. */
export interface Fanout {
  /** Takes an HTTP upgrade of `/stream/subscribe`: always accepted, so that a refusal is a close code. */
  handleUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  /** Open subscriber sockets, those not yet admitted included. */
  readonly connections: number;
  readonly counters: Readonly<Counters>;
  /** Age of the oldest write that the kernel has not taken whole, over all subscribers, ms. */
  readonly lagMs: number;
  /** From now on refuses with 1012; closes the open sockets with 1012, spread over `windowMs`; resolves when all are gone. */
  drain(windowMs: number): Promise<void>;
}

/** The subscriber sockets over a bus and a key check; call its `handleUpgrade` for upgrades of `/stream/subscribe`. */
export function createFanout(options: FanoutOptions): Fanout {
  return new FanoutNode(options);
}
