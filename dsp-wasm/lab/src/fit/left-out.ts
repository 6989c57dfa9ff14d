import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Core } from '@device-insights/dsp-wasm';
import { compileWeighed, readTables, WeighedCore } from '@device-insights/dsp-wasm/tuning';

/** Folder of the lab. */
export const LAB = fileURLToPath(new URL('../../', import.meta.url));
/** What is dumped and fitted from it; not kept in the repository. */
export const FOLDER = join(LAB, '.cache');

/** Weights by table. */
type Tables = Readonly<Record<string, readonly number[]>>;
/** By person: the tables that were fitted without that person. */
export type LeftOut = Readonly<Record<string, Tables>>;

interface Fitted {
  /** Those that were fitted on all people, as they were written into the core. */
  readonly tables: Tables;
  readonly people: LeftOut;
}

/**
 * Reads what the last fit has left out.
 *
 * @param names tables that must be in it
 * @throws Error that says what to do if there is none, or if the tables of the core are others by now
 */
export function readLeftOut(names: readonly string[]): LeftOut {
  const file = join(FOLDER, 'left-out.json');
  if (!existsSync(file)) throw new Error(`${file} is missing: npm run fit writes it`);
  const { tables, people } = JSON.parse(readFileSync(file, 'utf8')) as Fitted;
  for (const { name, weights } of readTables())
    if (names.includes(name) && String(tables[name]) !== String(weights))
      throw new Error(`the table ${name} of the core is not the last fitted one: npm run fit makes both`);
  return people;
}

/** Opens cores whose weights were fitted without some people, the first of whom the tables know. */
export async function leftOutCores(leftOut: LeftOut): Promise<(people: readonly string[]) => Promise<Core>> {
  const weighed = await WeighedCore.load(await compileWeighed());
  return (people) => weighed.open(leftOut[people.find((one) => leftOut[one]) ?? ''] ?? {});
}
