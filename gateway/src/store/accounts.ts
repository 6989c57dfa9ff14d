/** The accounts. */
export interface AccountStore {
  /** Creates an account; null if the name is taken. `algorithms` null: entitled to all, including later ones. */
  createAccount(account: Account): Promise<Account | null>;
  account(id: string): Promise<Account | null>;
  accountNamed(name: string): Promise<Account | null>;
  accounts(): Promise<Account[]>;
  entitle(id: string, algorithms: readonly string[] | null): Promise<Account | null>;
}

export interface Account {
  readonly id: string;
  readonly name: string;
  /** Slugs; null means all. */
  readonly algorithms: readonly string[] | null;
  readonly createdAt: number;
}
