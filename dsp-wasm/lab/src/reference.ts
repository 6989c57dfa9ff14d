import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf } from '@device-insights/fanout/platform/message-of';
import { z } from 'zod';
import type { Reference } from './score.js';

/** The reference in a recording's manifest; a recording may have none. */
const Manifest = z.object({
  id: z.string(),
  duration_s: z.number().positive(),
  reference: z.string().optional(),
  reference_types: z.array(z.enum(['hr', 'spo2', 'rr'])).default([]),
});

/**
 * The manifests of the recordings in a folder, in the order of their names.
 * @throws an error that names the folder if it has none
 */
export function manifestsIn(folder: string): string[] {
  const isFolder = existsSync(folder) && statSync(folder).isDirectory();
  const files = isFolder ? readdirSync(folder).filter((file) => file.endsWith('.json')) : [];
  if (files.length === 0) throw new Error(`${folder}: there is no recording (ID.json) in this folder`);
  return files.toSorted();
}

/**
 * Reads the reference of a recording: a CSV of `t_start,t_end,hr,spo2,rr` for each window, blank for no value.
 * @returns a reference without windows if the recording has none
 * @throws an error that names the file if it cannot be read
 */
export function readReference(folder: string, file: string): Reference {
  const { data, error } = Manifest.safeParse(parsed(folder, file));
  if (error) {
    const why = error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; ');
    throw new Error(`${file} is no manifest of a recording (sdk/RECORDINGS.md): ${why}`);
  }
  const { id, duration_s: seconds, reference, reference_types: types } = data;
  const rows = reference === undefined ? [] : readCsv(join(folder, reference));
  const windows = rows.map(({ t_end: end = Number.NaN, ...values }) => ({ end, values }));
  return { id, seconds, types, windows };
}

function parsed(folder: string, file: string): unknown {
  try {
    return JSON.parse(readFileSync(join(folder, file), 'utf8'));
  } catch (error) {
    throw new Error(`${file}: ${messageOf(error)}`, { cause: error });
  }
}

/** Recordings with this prefix come from optics with a known calibration curve (see the recordings' README). */
const CURVES: Readonly<Record<string, readonly number[]>> = { oxiwear: [110.5, -32.8] };

/** Coefficients of the calibration curve that a recording's SpO2 is read on; null for that of its device model. */
export function curveOf(file: string): readonly number[] | null {
  return CURVES[file.split('-', 1)[0] ?? ''] ?? null;
}

/** The marked beats of a recording, seconds; null if it has none. */
export function readBeats(folder: string, id: string): number[] | null {
  const file = join(folder, `${id}.beats.csv`);
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n').slice(1).map(Number) : null;
}

/** Rows by the column names of the first line; blank cells are left out. */
function readCsv(file: string): Record<string, number>[] {
  const [head = '', ...lines] = readFileSync(file, 'utf8').trim().split('\n');
  const names = head.trim().split(',');
  return lines.map((line) => {
    const cells = line.trim().split(',');
    const filled = names.flatMap((name, i) => (cells[i] ? [[name, Number(cells[i])] as const] : []));
    if (filled.some(([, value]) => !Number.isFinite(value)))
      throw new Error(`${file}: this line is not a row of numbers: ${line}`);
    return Object.fromEntries(filled);
  });
}
