import type { Database, Statement, Value } from './database.js';

// Columns have the names of the fields of their rows. A field that is an object or a boolean is stored as JSON.

/** The columns of a row. */
export type Stored<Row> = { readonly [Field in keyof Row]: Row[Field] extends Value ? Row[Field] : string | null };

/**
 * Adds a row to a table; call it within a write. Returns whether it was added.
 * @param conflict what to do about a conflict, as SQL
 */
export function insertRow(db: Database, table: string, row: object, conflict = ''): boolean {
  const columns = Object.keys(row);
  const sql = `INSERT INTO ${table} (${columns}) VALUES (${columns.map(() => '?')}) ${conflict}`;
  return db.run(sql, ...Object.values(row).map(columnOf)) === 1;
}

function columnOf(field: unknown): Value {
  const isJson = (typeof field === 'object' && field !== null) || typeof field === 'boolean';
  return isJson ? JSON.stringify(field) : (field as Value);
}

/**
 * Makes rows of their columns.
 * @param kind names a row in an error, such as `session`
 * @param json the columns that are JSON
 */
export function rowReader<Row extends { readonly id: string }>(kind: string, json: readonly (keyof Row)[]) {
  return (found: Stored<Row>): Row => {
    const parsed = json.map((column) => [column, fromJson(found[column] as string | null, `${kind} ${found.id}`)]);
    return { ...found, ...Object.fromEntries(parsed) }; // The schema has these columns, and `insertRow` wrote them.
  };
}

/**
 * The value of a column that is JSON, of the type `T`; null stays null.
 *
 * @param row names the row in the error, such as `session 5f…`
 */
export function fromJson<T>(text: string | null, row: string): T | null {
  if (text === null) return null;
  try {
    return JSON.parse(text) as T;
  } catch (cause) {
    throw new Error(`the row of ${row} in the store is broken: restore the store from a backup, or delete it`, {
      cause,
    });
  }
}

/** The conditions of a statement, all of which apply, each with the values that it binds. */
export class Conditions {
  readonly values: Value[] = [];
  readonly #conditions: string[] = [];

  add(condition: string, ...values: readonly Value[]): this {
    this.#conditions.push(condition);
    this.values.push(...values);
    return this;
  }

  /** The statement with these conditions, whose last parameters are the further values. */
  statement(select: string, rest = '', ...values: readonly Value[]): Statement {
    return { sql: `${select} WHERE ${this.#conditions.join(' AND ')} ${rest}`, values: [...this.values, ...values] };
  }
}
