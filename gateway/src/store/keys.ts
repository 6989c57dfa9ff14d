import type { Permission } from '@device-insights/fanout/key-check';
import type { Page, PageQuery, Scope } from './page.js';

/** The API keys, and the users that they are bound to. */
export interface KeyStore {
  addKey(key: Key): Promise<void>;
  key(id: string): Promise<Key | null>;
  /** The key with that hash, revoked or not. */
  keyByHash(hash: string): Promise<Key | null>;
  /** Oldest first; the keys of one account or, with null, of all accounts. */
  keys(accountId: string | null): Promise<Key[]>;
  /**
   * Marks it revoked (once: the first time is kept) and returns it; null if it does not exist. If `at` lies before the
   * newest revocation, as after a clock was set back, the time of that revocation is used: no revocation is ever
   * inserted before another.
   */
  revokeKey(id: string, at: number): Promise<Key | null>;
  /**
   * Adds `by` as the replacement of a key, which then expires at `expiresAt` or at its own expiry. Returns false,
   * without changes, if the key is revoked, had expired when `by` was created, or is already replaced.
   */
  replaceKey(id: string, by: Key, expiresAt: number): Promise<boolean>;
  /** Keys revoked at or after a given time: polled once a second by every gateway. */
  keysRevokedSince(at: number): Promise<Key[]>;
  /** Sets the label of a key and returns it; null if it does not exist. */
  labelKey(id: string, label: string): Promise<Key | null>;
  /** Sets `last_used_at` of the keys (called at most once a minute and key). */
  touchKeys(ids: readonly string[], at: number): Promise<void>;
  /** Newest first, without the keys that may only subscribe; a page starts after the cursor. */
  keyPage(query: KeyQuery): Promise<Page<Key>>;
  /** The users that keys of an account are bound to, by name; a page starts after the cursor. */
  users(query: UserQuery): Promise<Page<User>>;
  /** The keys with this label that may only subscribe and are not revoked; oldest first. */
  subscribeKeys(label: string): Promise<Key[]>;
  /** Deletes the keys that may only subscribe and expired before a given time. */
  forgetSubscribeKeys(before: number): Promise<void>;
}

export interface Key {
  readonly id: string;
  readonly accountId: string;
  /** The user it is bound to; null for a key that sees the whole account. */
  readonly user: string | null;
  /** SHA-256 of the whole key, hex. The key itself is not stored. */
  readonly hash: string;
  readonly prefix: string;
  readonly lastFour: string;
  readonly createdAt: number;
  readonly lastUsedAt: number | null;
  readonly revokedAt: number | null;
  /** From this time on the key is invalid; null means never. */
  readonly expiresAt: number | null;
  readonly permissions: readonly Permission[];
  /** Chosen by an operator, up to 100 characters; "" for none. Of a key that may only subscribe: the id of its operator. */
  readonly label: string;
  /** Whether it is valid only for the subscriber sockets: the dashboard shows live readings with such a key. */
  readonly subscribeOnly: boolean;
  /** Id of the key that replaced it; null if none. */
  readonly replacedBy: string | null;
}

export type KeyQuery = Scope & PageQuery;

export interface UserQuery extends PageQuery {
  readonly accountId: string;
}

/** A user of an account, as known from its keys. */
export interface User {
  readonly user: string;
  /** Number of keys issued for the user, including those that are no longer valid. */
  readonly keys: number;
  readonly lastUsedAt: number | null;
}
