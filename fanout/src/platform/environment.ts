import { readFileSync } from 'node:fs';
import { ConfigError } from './config-error.js';
import { messageOf } from './message-of.js';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The variables that are set, without the empty ones. A secret NAME may be in the file that NAME_FILE names, as Docker
 * and systemd give it; a line end after it is not part of it.
 * @throws ConfigError if a file cannot be read, or a secret is given twice
 */
export function variablesOf(environment: Environment, secrets: readonly string[]): Record<string, string> {
  const set: Record<string, string> = {};
  for (const [name, value] of Object.entries(environment)) if (value) set[name] = value;
  const faults: string[] = [];
  for (const name of secrets) {
    const file = set[`${name}_FILE`];
    if (file === undefined) continue;
    if (set[name] !== undefined) faults.push(`${name}_FILE and ${name} are both set: remove one`);
    try {
      set[name] = readFileSync(file, 'utf8').replace(/\r?\n$/, '');
    } catch (error) {
      faults.push(`${name}_FILE cannot be read: ${messageOf(error)}`);
    }
  }
  if (faults.length > 0) throw new ConfigError(faults);
  return set;
}

/** A line for each variable that is unknown, and differs from a known one by a letter or two. */
export function misspelt(environment: Environment, variables: readonly string[], secrets: readonly string[]): string[] {
  const known = [...variables, ...secrets.map((name) => `${name}_FILE`)];
  return Object.keys(environment).flatMap((name) => {
    if (known.includes(name)) return [];
    const meant = known.find((one) => {
      const most = one.length > 5 ? 2 : 1;
      return Math.abs(one.length - name.length) <= most && distance(one, name) <= most;
    });
    return meant === undefined
      ? []
      : [`${name} is not a variable of the service, and has no effect: did you mean ${meant}?`];
  });
}

/** Number of letters to insert, remove or replace until two words are the same (Levenshtein). */
function distance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, i) => i);
  for (const [i, letter] of [...one].entries()) {
    const next = [i + 1];
    for (const [j, its] of [...other].entries())
      next.push(Math.min((row[j] ?? 0) + (letter === its ? 0 : 1), (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    row = next;
  }
  return row.at(-1) ?? 0;
}
