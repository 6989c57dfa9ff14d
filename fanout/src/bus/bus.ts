/**
 * The bus: carries finished insight messages from the gateways that publish them to the fan-out nodes whose subscribers
 * want them. One channel per account. Nothing durable lives on it: what was lost while a node was away is in the store.
 * Every implementation runs `suite.ts`.
 */
export interface Bus {
  /**
   * Publishes the messages of one turn, in order, after all earlier publishes of the account. Resolves when the bus has
   * taken them (also where nobody listens), rejects with `BusUnavailable` when it could not: they may not have been delivered.
   */
  publish(account: string, messages: readonly BusMessage[]): Promise<void>;
  /**
   * Listens to an account's channel. Resolves once the subscription is confirmed: every message published after that
   * reaches `listener.messages`, in order. One upstream subscription serves all listeners of an account.
   */
  subscribe(account: string, listener: BusListener): Promise<BusSubscription>;
  /** Brings a canary message round; rejects when it does not come back within `timeoutMs`. */
  probe(timeoutMs: number): Promise<void>;
  close(): Promise<void>;
}

/** A message as it goes to the subscribers' sockets: finished JSON text, and whom it concerns. */
export interface BusMessage {
  /** JSON text of one live insight. */
  readonly text: string;
  /** The user whose session it came from; null where the session belongs to no single user. */
  readonly user: string | null;
}

export interface BusListener {
  messages(batch: readonly BusMessage[]): void;
  /** Messages of this account may have been lost: whoever follows it must reconcile by REST. The subscription is over. */
  hole(): void;
}

export interface BusSubscription {
  cancel(): void;
}

export class BusUnavailable extends Error {
  override readonly name = 'BusUnavailable';
}
