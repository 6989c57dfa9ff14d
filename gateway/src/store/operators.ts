/** The operators of the dashboard, and their logins. */
export interface OperatorStore {
  /** Adds an operator; false if the name is taken. */
  addOperator(operator: Operator): Promise<boolean>;
  operatorNamed(name: string): Promise<Operator | null>;
  /** All operators, by name. */
  operators(): Promise<Operator[]>;
  /**
   * Sets another password for an operator and increments its `revision`, which ends all its logins; null if it does not
   * exist.
   */
  setOperatorPassword(id: string, password: string): Promise<Operator | null>;
  removeOperator(id: string): Promise<Operator | null>;
  /** Adds a login, and deletes those that had expired when it was created. */
  addLogin(login: Login): Promise<void>;
  /**
   * The operator whose login has that hash: null if there is no such login, or if it ended with its operator or
   * password.
   */
  login(hash: string): Promise<{ readonly login: Login; readonly operator: Operator } | null>;
  endLogin(hash: string): Promise<void>;
}

/** Rights of an operator in the dashboard: full, or read-only. */
export type Role = 'operator' | 'viewer';

/** A person who can sign in to the dashboard. */
export interface Operator {
  readonly id: string;
  readonly name: string;
  readonly role: Role;
  /** The password's scrypt hash with its salt and costs. The password itself is not stored. */
  readonly password: string;
  /** Counts the passwords, from 1. */
  readonly revision: number;
  readonly createdAt: number;
}

/** One signed-in browser. */
export interface Login {
  /** SHA-256 of the cookie's token, hex. The token itself is not stored. */
  readonly hash: string;
  readonly operatorId: string;
  /** The operator's revision at the sign-in. */
  readonly revision: number;
  readonly createdAt: number;
  readonly expiresAt: number;
}
