import { createReadStream } from 'node:fs';
import { isTooLarge } from '../device/frame-encoder.js';
import { RecordingError } from './manifest.js';

/** One row of a stream's CSV: the instant's stamp in seconds and its values, NaN where missing. */
export interface Row {
  /** Its line in the file, counted from 1. */
  readonly line: number;
  readonly t: number;
  readonly values: readonly number[];
}

/** Where the stamps of a CSV are. */
export interface TimeColumn {
  /** Name of the column; null: the rows have no stamps, and count from 0. */
  readonly name: string | null;
  /** Unit of the column, or spacing of rows without stamps, seconds. */
  readonly seconds: number;
}

/** Maximum length of a line, in characters. */
const MAX_LINE = 2 ** 20;

/**
 * Reads the rows of a stream's CSV as they are read from the disk.
 *
 * @param columns names of the wanted columns, in the wanted order
 * @throws RecordingError naming file and line
 */
export async function* readRows(file: string, columns: readonly string[], time: TimeColumn): AsyncGenerator<Row> {
  let parse: ((text: string, line: number) => Row) | null = null;
  let line = 0;
  for await (const text of readLines(file)) {
    line++;
    if (parse === null) parse = rowParser(text, columns, time, file);
    else if (text !== '') yield parse(text, line);
  }
  if (parse === null) throw isEmpty(file, [time.name ?? [], columns].flat());
}

/**
 * The names in the first line of a CSV.
 *
 * @throws RecordingError if the file cannot be read or is empty
 */
export async function readHeader(file: string): Promise<string[]> {
  for await (const text of readLines(file)) return cellsOf(withoutMark(text));
  throw isEmpty(file, ['t', '…']);
}

function isEmpty(file: string, names: readonly string[]): RecordingError {
  return new RecordingError(`${file}: is empty; its first line must name the columns (${names.join(',')})`);
}

async function* readLines(file: string): AsyncGenerator<string> {
  let rest = '';
  let line = 0;
  try {
    for await (const chunk of createReadStream(file, { encoding: 'utf8', highWaterMark: 1 << 18 })) {
      const lines = (rest + String(chunk)).split('\n');
      rest = lines.pop() ?? '';
      for (const text of lines) {
        line++;
        yield text.endsWith('\r') ? text.slice(0, -1) : text;
      }
      if (rest.length > MAX_LINE)
        throw new RecordingError(
          `${file}:${line + 1}: the line is longer than ${MAX_LINE} characters; lines must end with LF or CRLF`,
        );
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

/** The text without a byte order mark. */
function withoutMark(text: string): string {
  return text.replace(/^\uFEFF/, '');
}

/** The cells of a line, without blanks and quotes around them. */
function cellsOf(text: string): string[] {
  return text.split(',').map((cell) => unquoted(cell.trim()));
}

function unquoted(cell: string): string {
  return cell.length > 1 && cell.startsWith('"') && cell.endsWith('"') ? cell.slice(1, -1) : cell;
}

/** The reader of the rows below a header. */
function rowParser(header: string, columns: readonly string[], time: TimeColumn, file: string) {
  const names = cellsOf(withoutMark(header));
  const wanted = time.name === null ? columns : [time.name, ...columns];
  const places = wanted.map((name) => findColumn(names, name, header, file));
  let count = 0;
  return (text: string, line: number): Row => {
    const cells = cellsOf(text);
    const place = `${file}:${line}`;
    checkCells(cells, names, place);
    const numbers = places.map((column, i) =>
      parseCell(cells[column], column, place, wanted[i] === time.name ? 'a number of seconds' : VALUE),
    );
    const [t, ...values] = time.name === null ? [count++, ...numbers] : numbers;
    if (t === undefined || Number.isNaN(t))
      throw new RecordingError(`${place}: the time stamp (column ${time.name}) is missing; every row needs its time`);
    return { line, t: t * time.seconds, values };
  };
}

function findColumn(names: readonly string[], name: string, header: string, file: string): number {
  const place = names.indexOf(name);
  const shown = JSON.stringify(header.length > 200 ? `${header.slice(0, 200)}…` : header);
  if (place < 0)
    throw new RecordingError(
      `${file}:1: there is no column ${JSON.stringify(name)}; the header is ${shown}${remedy(header)}`,
    );
  if (names.includes(name, place + 1))
    throw new RecordingError(`${file}:1: there are two columns ${JSON.stringify(name)}; the header is ${shown}`);
  return place;
}

/** What is wrong with the form of a header. */
function remedy(header: string): string {
  if (header.includes('\0')) return '; the encoding must be UTF-8';
  if (header.includes('\r')) return '; lines must end with LF or CRLF';
  return /[;\t]/.test(header) ? '; columns must be separated by commas, and decimals written with a point' : '';
}

/** Checks that a line is a row with a cell for every name of the header, and no more. */
function checkCells(cells: readonly string[], names: readonly string[], place: string): void {
  if (cells.length > names.length && cells.slice(names.length).some((cell) => cell !== ''))
    throw new RecordingError(
      `${place}: the row has ${cells.length} cells, but the header names ${names.length}; decimals must be written with a point`,
    );
  if (cells.every((cell, i) => cell !== '' && cell === names[i]) && cells.some((cell) => Number.isNaN(Number(cell))))
    throw new RecordingError(
      `${place}: the header is repeated; if several recordings were joined, put each into a file of its own`,
    );
}

const VALUE = 'a number; leave the cell of a missing value blank';

function parseCell(text: string | undefined, column: number, place: string, form: string): number {
  if (text === undefined)
    throw new RecordingError(
      `${place}: column ${column + 1} is missing; leave the cell of a missing value blank, but write its comma`,
    );
  if (text === '' || text === 'NaN' || text === 'nan') return Number.NaN;
  const value = Number(text);
  if (!Number.isFinite(value)) throw new RecordingError(`${place}: ${JSON.stringify(text)} is not ${form}`);
  if (isTooLarge(value))
    throw new RecordingError(`${place}: ${text} is too large for a float32; samples are sent as float32`);
  return value;
}
