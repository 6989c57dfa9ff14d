import { runAdmin } from '@device-insights/gateway/test-admin';

/** The operator's commands, performed in this process on the store of this environment: a process for each takes ten times the CPU time. */
export class Operator {
  /** Ids of accounts by name. */
  readonly #accounts = new Map<string, string>();

  constructor(private readonly env: Readonly<Record<string, string>>) {}

  /** Id of the account of that name, which is created if it does not exist. */
  async account(name: string): Promise<string> {
    const known = this.#accounts.get(name);
    if (known !== undefined) return known;
    const accounts = await this.#admin<{ id: string; name: string }[]>('account', 'list');
    const there = accounts.find((account) => account.name === name);
    const { id } = there ?? (await this.#admin<{ id: string }>('account', 'create', name));
    this.#accounts.set(name, id);
    return id;
  }

  /** Entitles the account of that name to these algorithms. */
  async entitle(name: string, ...slugs: string[]): Promise<void> {
    await this.#admin('account', 'entitle', '--account', await this.account(name), '--algos', slugs.join(','));
  }

  /** A new key of the account of that name; `options` as the command takes them. */
  async issue(name: string, ...options: string[]): Promise<{ id: string; key: string }> {
    return this.#admin('key', 'issue', '--account', await this.account(name), ...options);
  }

  /** A new key that expires soon after it is issued, by the time that this machine takes for a command; ms. */
  async issueExpiring(name: string): Promise<{ key: string; expiresAt: number }> {
    const begun = Date.now();
    const account = await this.account(name);
    const expiresAt = Date.now() + 4000 + 3 * (Date.now() - begun);
    const expires = new Date(expiresAt).toISOString();
    const { key } = await this.#admin<{ key: string }>('key', 'issue', '--account', account, '--expires', expires);
    return { key, expiresAt };
  }

  /** Revokes a key; returns the time of the revocation, ms. */
  async revoke(id: string): Promise<number> {
    return Date.parse((await this.#admin<{ revoked_at: string }>('key', 'revoke', id)).revoked_at);
  }

  async #admin<T>(...args: string[]): Promise<T> {
    return runAdmin<T>(this.env, args);
  }
}
