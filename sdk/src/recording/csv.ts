import { createReadStream } from 'node:fs';
import { RecordingError } from './manifest.js';

/** One row of a stream's CSV: the instant's stamp in seconds and its values, NaN where missing. */
export interface Row {
  readonly t: number;
  readonly values: readonly number[];
}

/**
 * Reads the rows of a stream's CSV as they are read from the disk.
 *
 * @param columns names of the wanted columns, in the wanted order
 * @throws RecordingError naming file and line
 */
export async function* readRows(file: string, columns: readonly string[]): AsyncGenerator<Row> {
  let places: readonly number[] | null = null;
  let number = 0;
  for await (const line of readLines(file)) {
    number++;
    if (places === null) places = findColumns(line, ['t', ...columns], file);
    else if (line !== '') yield parseRow(line, places, `${file}:${number}`);
  }
  if (places === null)
    throw new RecordingError(`${file}: is empty; its first line must name the columns (t,${columns.join(',')})`);
}

async function* readLines(file: string): AsyncGenerator<string> {
  let rest = '';
  try {
    for await (const chunk of createReadStream(file, { encoding: 'utf8', highWaterMark: 1 << 18 })) {
      const lines = (rest + String(chunk)).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) yield line.endsWith('\r') ? line.slice(0, -1) : line;
    }
  } catch (cause) {
    throw readFault(file, cause);
  }
  if (rest !== '') yield rest;
}

/** Describes why the system cannot read a file. */
export function readFault(file: string, cause: unknown): Error {
  if (!(cause instanceof Error) || !('code' in cause)) return cause instanceof Error ? cause : new Error(String(cause));
  const what = cause.code === 'ENOENT' ? 'no such file' : `cannot be read (${cause.code})`;
  return new RecordingError(`${file}: ${what}`, { cause });
}

function findColumns(header: string, wanted: readonly string[], file: string): number[] {
  const names = header
    .replace(/^\uFEFF/, '')
    .split(',')
    .map((name) => name.trim());
  return wanted.map((name) => {
    const place = names.indexOf(name);
    if (place < 0)
      throw new RecordingError(
        `${file}:1: there is no column ${JSON.stringify(name)}; the header is ${JSON.stringify(header)}`,
      );
    return place;
  });
}

function parseRow(line: string, places: readonly number[], place: string): Row {
  const cells = line.split(',');
  const [t, ...values] = places.map((column) => parseCell(cells[column], column, place));
  if (t === undefined || Number.isNaN(t))
    throw new RecordingError(`${place}: the time stamp (column t) is missing; every row needs its time in seconds`);
  return { t, values };
}

function parseCell(cell: string | undefined, column: number, place: string): number {
  if (cell === undefined)
    throw new RecordingError(
      `${place}: column ${column + 1} is missing; leave the cell of a missing value blank, but write its comma`,
    );
  const text = cell.trim();
  if (text === '' || text === 'NaN' || text === 'nan') return Number.NaN;
  const value = Number(text);
  if (!Number.isFinite(value))
    throw new RecordingError(
      `${place}: ${JSON.stringify(text)} is not a number; leave the cell of a missing value blank`,
    );
  return value;
}
