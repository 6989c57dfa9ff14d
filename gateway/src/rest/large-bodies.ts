/** Most bodies of one account that are read at once. */
const MOST_OF_ONE = 8;
/** Bodies of all accounts after which each account may have only one, 1 MiB each. */
const MOST_OF_ALL = 128;

/** The bodies of one account. */
interface Share {
  reading: number;
  readonly waiting: (() => void)[];
}

/**
 * Limits the memory that large bodies take while they arrive, which may take half a minute. An account reads up to 8 at
 * once, but no more than an eighth of what the others leave of 128: so all of them take at most 128 and one for each
 * account, and an account always has its one at once, whatever the others do.
 */
export class LargeBodies {
  readonly #shares = new Map<string, Share>();
  #reading = 0;

  /** Runs `read` as soon as the account may read another body; settles as it does. */
  async run<T>(account: string, read: () => Promise<T>): Promise<T> {
    const share = this.#shares.get(account) ?? { reading: 0, waiting: [] };
    this.#shares.set(account, share);
    await new Promise<void>((resolve) => {
      share.waiting.push(resolve);
      this.#start();
    });
    try {
      return await read();
    } finally {
      share.reading -= 1;
      this.#reading -= 1;
      if (share.reading === 0 && share.waiting.length === 0) this.#shares.delete(account);
      this.#start();
    }
  }

  #start(): void {
    for (const share of this.#shares.values())
      while (share.waiting.length > 0 && share.reading < this.#most) {
        share.reading += 1;
        this.#reading += 1;
        share.waiting.shift()?.();
      }
  }

  /** Most bodies of an account at once, by those that are being read now. */
  get #most(): number {
    return Math.max(1, Math.min(MOST_OF_ONE, (MOST_OF_ALL - this.#reading) / MOST_OF_ONE));
  }
}
