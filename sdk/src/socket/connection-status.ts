import type { Clock } from '../clock.js';
import { ConnectionError } from '../rest/api-error.js';
import type { CloseInfo } from './socket.js';

/**
 * State of a connection. `connecting`: an attempt is running; `live`: data flow; `repairing`: a subscription reads
 * missed insights by REST; `waiting`: the last attempt failed or the connection was lost, and the next attempt is
 * scheduled; `closed`: it has ended permanently.
 */
export type ConnectionState = 'connecting' | 'live' | 'repairing' | 'waiting' | 'closed';

/** The state of a connection with its cause. */
export interface ConnectionStatus {
  /** State of the connection. */
  readonly state: ConnectionState;
  /** The error that ended the last connection or attempt; null while nothing is wrong, and after a requested end. */
  readonly error: Error | null;
  /** Time at which the next attempt begins, ms since the epoch; null unless the state is `waiting`. */
  readonly nextTryAt: number | null;
}

/** Keeps the status of a connection and reports each change to a listener; nothing follows `closed`. */
export class StatusTeller {
  /** The newest status. */
  current: ConnectionStatus = { state: 'connecting', error: null, nextTryAt: null };

  /** @param listener called after each change */
  constructor(readonly listener: ((status: ConnectionStatus) => void) | undefined) {}

  tell(state: ConnectionState, error: Error | null = null, nextTryAt: number | null = null): void {
    const { current } = this;
    if (current.state === 'closed' || (current.state === state && current.error === error)) return;
    this.current = { state, error, nextTryAt };
    this.listener?.(this.current);
  }
}

/** The error for a lost connection while it is tried again. */
export function lostConnection({ code, reason }: CloseInfo): ConnectionError {
  return new ConnectionError(`the connection was lost (${code}${reason && `: ${reason}`})`);
}

/**
 * Limits how long the first connection may take.
 *
 * @param ms from now on; Infinity for no limit
 * @param late is called with the error when the time has passed
 * @returns lifts the limit
 */
export function limitFirstConnection(
  clock: Clock,
  ms: number,
  status: StatusTeller,
  late: (error: ConnectionError) => void,
): () => void {
  if (ms === Number.POSITIVE_INFINITY) return () => {};
  return clock.after(ms, () => {
    const cause = status.current.error;
    late(new ConnectionError(`no connection within ${ms} ms: ${cause?.message ?? 'no answer'}`, { cause }));
  });
}
