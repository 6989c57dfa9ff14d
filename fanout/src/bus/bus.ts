/**
 * The bus: carries finished insight messages from the gateways that publish them to the fan-out nodes that have
 * subscribers for them. One channel per account. The bus stores nothing: messages that a node missed are in the store.
 * Every implementation runs `suite.ts`.
 */
export interface Bus {
  /**
   * Publishes the messages of one turn, in order, after all earlier publishes of the account. Resolves when the bus has
   * accepted them (even if nobody listens), rejects with `BusUnavailable` if it could not: they may not have been
   * delivered.
   */
  publish(account: string, messages: readonly BusMessage[]): Promise<void>;
  /**
   * Announces that messages of another publisher of the account may have been lost before now: all current listeners
   * are told of a loss, before anything published here afterwards; if the bus cannot be reached, as soon as it can.
   * Rejects with `BusUnavailable` once it is closed.
   */
  declareLoss(account: string): Promise<void>;
  /**
   * Listens to an account's channel. Resolves once the subscription is confirmed: every message published after that
   * reaches `listener.messages`, in order. One upstream subscription serves all listeners of an account.
   */
  subscribe(account: string, listener: BusListener): Promise<BusSubscription>;
  /** Sends a probe message through the bus; rejects if it does not come back within `timeoutMs`. */
  probe(timeoutMs: number): Promise<void>;
  close(): Promise<void>;
}

/** A message for the subscribers' sockets: finished JSON text, and the user that it concerns. */
export interface BusMessage {
  /** JSON text of one live insight. */
  readonly text: string;
  /** The user whose session it came from; null if the session belongs to no single user. */
  readonly user: string | null;
}

export interface BusListener {
  messages(batch: readonly BusMessage[]): void;
  /**
   * Messages of this account may have been lost: its subscribers must reconcile by REST. The subscription has ended.
   */
  loss(): void;
}

export interface BusSubscription {
  cancel(): void;
}

export class BusUnavailable extends Error {
  override readonly name = 'BusUnavailable';
}
