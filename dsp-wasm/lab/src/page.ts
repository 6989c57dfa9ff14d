import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Row } from './score.js';

/** Folder of the pages whose tables the commands write; the text around them is written by hand. */
const PAGES = fileURLToPath(new URL('../../', import.meta.url));

/** Seeds of the benches on the page: no choice in the signal core was made with them, and nothing is fitted on them. */
export const PAGE_SEEDS: readonly number[] = [2001, 2002, 2003];

/** Rows as a table of Markdown; the columns are those of the first. */
export function table(rows: readonly Row[]): string {
  const columns = Object.keys(rows[0] ?? {});
  const line = (cells: readonly unknown[]) => `| ${cells.join(' | ')} |`;
  return [
    line(columns),
    line(columns.map(() => '---')),
    ...rows.map((row) => line(columns.map((c) => row[c] ?? ''))),
  ].join('\n');
}

/** Rows by the number of their table on the page. */
export type Tables = Readonly<Record<number, readonly Row[]>>;

/** Prints the tables and writes them into ACCURACY.md. */
export function writePage(tables: Tables): void {
  writeParts('ACCURACY.md', new Map(Object.entries(tables).map(([number, rows]) => [number, table(rows)])));
}

/** Prints texts and writes each at its place in a page, between `<!-- table NAME -->` and `<!-- end -->`. */
export function writeParts(page: 'ACCURACY.md' | 'SENSITIVITY.md', parts: ReadonlyMap<string, string>): void {
  console.log([...parts.values()].join('\n\n'));
  const file = join(PAGES, page);
  let text = readFileSync(file, 'utf8');
  for (const [name, part] of parts) {
    const place = new RegExp(`(<!-- table ${name} -->\n)[^]*?(<!-- end -->)`);
    if (!place.test(text))
      throw new Error(`${page} has no place for table ${name}: add <!-- table ${name} --> and <!-- end -->`);
    text = text.replace(place, (_, before: string, after: string) => `${before}${part}\n${after}`);
  }
  writeFileSync(file, text);
}
