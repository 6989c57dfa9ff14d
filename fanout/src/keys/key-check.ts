/** What a key may do: `read` REST and subscribe, `stream` data, `manage` device models. */
export const PERMISSIONS = ['read', 'stream', 'manage'] as const;
export type Permission = (typeof PERMISSIONS)[number];

/** The account and user that a key stands for, and what it may do. */
export interface KeyHolder {
  readonly account: string;
  /** The user whose sessions it sees; null for the whole account. */
  readonly user: string | null;
  readonly permissions: readonly Permission[];
  /** From this time on the key is invalid, ms since the epoch; null means never. */
  readonly expiresAt: number | null;
}

/** Whether something with an expiry time has expired, by the wall clock. */
export function hasExpired({ expiresAt }: Pick<KeyHolder, 'expiresAt'>, now: number): boolean {
  return expiresAt !== null && now >= expiresAt;
}

/**
 * How a fan-out node checks keys: with the gateway's store if it is mounted, with their copy in Redis if it stands
 * alone.
 */
export interface KeyCheck {
  /**
   * The holder of the key with this SHA-256 (hex); null if the key is unknown, revoked or expired; rejects if that is
   * not known now (1013).
   */
  holder(hash: string): Promise<KeyHolder | null>;
  /**
   * Calls back for every hash that is revoked from now on; returns the function that stops this. If revocations may
   * have been missed, the keys `inUse` are checked again.
   */
  onRevoked(run: (hash: string) => void, inUse: () => Iterable<string>): () => void;
}
