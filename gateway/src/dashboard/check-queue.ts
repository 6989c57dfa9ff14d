/** Checks that may wait, in total and of one address. */
const WAITING = 1000;
const WAITING_EACH = 4;

/** A check was refused, because more wait than allowed. */
export class CheckRefused extends Error {
  override readonly name = 'CheckRefused';
}

/** A client that waits for a check. */
export interface Client {
  readonly address: string;
  /** Its recent failures that count for the order. */
  failures(): number;
  /** When it was first seen: at its first recent failure, otherwise now; by the monotonic clock, ms. */
  readonly since: number;
}

interface Waiting {
  readonly client: Client;
  start(): void;
  refuse(reason: unknown): void;
}

/**
 * Runs password checks one at a time, as each occupies a thread that file and DNS operations also need. The next is that of the
 * client with the fewest failures, and of several such clients of the one that was first seen last. So somebody who just came
 * waits for one check, also while a thousand attempts wait whose clients have failed, or are about to.
 */
export class CheckQueue {
  /** In the order in which they came. */
  #waiting: Waiting[] = [];
  #isRunning = false;

  /**
   * Runs a check in its turn. Rejects with `CheckRefused` if 4 of its address wait, or when it is the last in the order of
   * more than 1000; with the signal's reason if it is aborted while it waits.
   */
  async run<T>(client: Client, check: () => Promise<T>, signal: AbortSignal): Promise<T> {
    if (this.#isRunning) await this.#turn(client, signal);
    this.#isRunning = true;
    try {
      return await check();
    } finally {
      this.#startNext();
    }
  }

  #turn(client: Client, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const ofAddress = this.#waiting.filter(({ client: { address } }) => address === client.address);
    if (ofAddress.length >= WAITING_EACH) throw new CheckRefused(`${WAITING_EACH} attempts of one address wait`);
    return new Promise((resolve, reject) => {
      const waiting = { client, start: resolve, refuse: reject };
      this.#waiting.push(waiting);
      signal.addEventListener('abort', () => this.#refuse(waiting, signal.reason));
      if (this.#waiting.length <= WAITING) return;
      const last = this.#waiting.reduce((found, other) => (isBefore(other, found) ? found : other));
      this.#refuse(last, new CheckRefused(`more than ${WAITING} attempts wait`));
    });
  }

  #refuse(waiting: Waiting, reason: unknown): void {
    this.#remove(waiting);
    waiting.refuse(reason);
  }

  #startNext(): void {
    const next = this.#waiting.reduce<Waiting | undefined>(
      (found, other) => (found && !isBefore(other, found) ? found : other),
      undefined,
    );
    this.#isRunning = next !== undefined; // From now on, until it continues in `run`.
    if (!next) return;
    this.#remove(next);
    next.start();
  }

  #remove(waiting: Waiting): void {
    this.#waiting = this.#waiting.filter((other) => other !== waiting);
  }
}

/** Whether one that came later is before another in the order. */
function isBefore({ client: later }: Waiting, { client }: Waiting): boolean {
  const difference = later.failures() - client.failures();
  return difference < 0 || (difference === 0 && later.since >= client.since);
}
