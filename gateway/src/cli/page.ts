import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Row } from './score.js';

/** The page whose tables the commands write; the text around them is written by hand. */
const PAGE = fileURLToPath(new URL('../../../dsp-wasm/ACCURACY.md', import.meta.url));

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

/** Prints the tables and writes each at its place in the page, between `<!-- table N -->` and `<!-- end -->`. */
export function writePage(tables: Readonly<Record<number, readonly Row[]>>): void {
  const texts = Object.entries(tables).map(([number, rows]) => [number, table(rows)] as const);
  console.log(texts.map(([, text]) => text).join('\n\n'));
  const page = texts.reduce(
    (text, [number, rows]) => {
      const place = new RegExp(`(<!-- table ${number} -->\n)[^]*?(<!-- end -->)`);
      if (!place.test(text))
        throw new Error(`ACCURACY.md has no place for table ${number}: add <!-- table ${number} --> and <!-- end -->`);
      return text.replace(place, (_, before: string, after: string) => `${before}${rows}\n${after}`);
    },
    readFileSync(PAGE, 'utf8'),
  );
  writeFileSync(PAGE, page);
}
