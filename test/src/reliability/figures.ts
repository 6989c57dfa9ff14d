import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { dirname } from 'node:path';
import { fileOf } from '../server-process.js';
import type { DecoderFigures } from './decoder-fuzz.js';
import type { RowFigures } from './matrix.js';
import type { ServiceFuzzFigures } from './service-fuzz.js';
import type { SoakFigures } from './soak.js';

/** The parts of the page, each measured separately. */
export interface Parts {
  readonly matrix: readonly RowFigures[];
  readonly decoder: DecoderFigures;
  readonly service: ServiceFuzzFigures;
  readonly soak: SoakFigures;
  readonly 'soak-mongo-redis': SoakFigures;
}

export type PartName = keyof Parts;

/** Results, with the place and time of the measurement. */
export interface Kept<T> {
  readonly date: string;
  readonly cores: number;
  readonly node: string;
  readonly figures: T;
}

/** The file of the repository in which a part is kept. */
export const fileOfPart = (part: PartName) => fileOf(`test/figures/${part}.json`);

/** Saves results measured now on this machine. */
export function keep<P extends PartName>(part: P, figures: Parts[P], file = fileOfPart(part)): void {
  const kept: Kept<Parts[P]> = {
    date: new Date().toISOString().slice(0, 10),
    cores: cpus().length,
    node: process.version,
    figures,
  };
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${JSON.stringify(kept, null, 1)}\n`);
}

/** The saved results; null if the part was never measured. */
export function kept<P extends PartName>(part: P): Kept<Parts[P]> | null {
  const file = fileOfPart(part);
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Kept<Parts[P]>) : null;
}
