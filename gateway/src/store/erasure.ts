/** Erases data in parts, each short enough that others do not wait for it. */
export interface ErasureStore {
  /** Deletes at most `most` insights or blocks of beats; how many it found. Fewer than `most`: none is left. */
  eraseReadings(what: 'insights' | 'beats', which: ErasedReadings, most: number): Promise<number>;
  /**
   * Deletes the row of a closed session that has no insights and beats any more; it cannot get new ones afterwards. False
   * if there is no such session.
   */
  eraseSession(id: string): Promise<boolean>;
  /** Deletes at most `most` revoked keys of one user of an account, or, with null, of the account; how many it found. */
  eraseKeys(accountId: string, user: string | null, most: number): Promise<number>;
  /**
   * Deletes at most `most` devices, device models and idempotency keys of an account that has no sessions any more; how
   * many it found. Fewer than `most`: the account and its keys are deleted too. A device is deleted before its model. Null if
   * there is no such account.
   */
  eraseAccount(id: string, most: number): Promise<number | null>;
}

/** All of a session, or those of an account that were published before an instant, oldest first. */
export type ErasedReadings = { readonly sessionId: string } | { readonly accountId: string; readonly before: number };
