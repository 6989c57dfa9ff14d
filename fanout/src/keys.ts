import { hash } from 'node:crypto';

/** Whom a key speaks for. */
export interface KeyHolder {
  readonly account: string;
  /** The user whose sessions it sees; null for the whole account. */
  readonly user: string | null;
}

/** How a fan-out node checks keys: the gateway's store when mounted, the mirror in Redis when alone. */
export interface KeyCheck {
  /** Who holds the key with this SHA-256 (hex); null where it is unknown or revoked; rejects when that cannot be told now (1013). */
  holder(hash: string): Promise<KeyHolder | null>;
  /** Calls back for every hash that is revoked from now on; returns the way to stop. */
  onRevoked(run: (hash: string) => void): () => void;
}

const KEY_PATTERN = /^svc_[0-9A-Za-z]{22,}$/;

/** The SHA-256 (hex) of the key that a subscriber's URL carries in `api_key`; null where there is none that could be one of ours. */
export function keyHashOf(url: string): string | null {
  const query = url.indexOf('?');
  const key = query < 0 ? null : new URLSearchParams(url.slice(query + 1)).get('api_key');
  return key && KEY_PATTERN.test(key) ? hash('sha256', key) : null;
}
