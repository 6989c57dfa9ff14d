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

/** A connection that tells its state. Nothing follows `closed`. */
export abstract class StatefulConnection {
  #status: ConnectionStatus = { state: 'connecting', error: null, nextTryAt: null };
  readonly #listener: ((status: ConnectionStatus) => void) | undefined;

  /**
   * @param listener called after each change
   * @internal
   */
  constructor(listener: ((status: ConnectionStatus) => void) | undefined) {
    this.#listener = listener;
  }

  /** State of the connection. */
  get state(): ConnectionState {
    return this.#status.state;
  }

  /** The error that ended the last connection or attempt; null while nothing is wrong. */
  get lastError(): Error | null {
    return this.#status.error;
  }

  /** Time at which the next attempt begins, ms since the epoch; null unless `state` is `waiting`. */
  get nextTryAt(): number | null {
    return this.#status.nextTryAt;
  }

  /** Whether data flow at this moment: `state` is `live`. */
  get connected(): boolean {
    return this.state === 'live';
  }

  /** @internal */
  protected tell(state: ConnectionState, error: Error | null = null, nextTryAt: number | null = null): void {
    if (this.state === 'closed' || (this.state === state && this.lastError === error)) return;
    this.#status = { state, error, nextTryAt };
    this.#listener?.(this.#status);
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
  connection: StatefulConnection,
  late: (error: ConnectionError) => void,
): () => void {
  return clock.after(ms, () => {
    const cause = connection.lastError;
    late(new ConnectionError(`no connection within ${ms} ms: ${cause?.message ?? 'no answer'}`, { cause }));
  });
}
