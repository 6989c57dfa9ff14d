import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { fileOf } from '../server-process.js';
import { fuzzDecoder } from './decoder-fuzz.js';
import { fileOfPart, keep, kept } from './figures.js';
import { type MatrixScale, type RowFigures, runRow } from './matrix.js';
import { page } from './page.js';
import { ROWS } from './rows.js';
import { fuzzService } from './service-fuzz.js';
import { type SoakSample, soak } from './soak.js';

const USAGE = `reliability [--part matrix|decoder|service]… [--row ID]… [--devices 100] [--subscribers 20] [--stop-seconds 20] [--seed 1] [--page]
    measures the parts (all three where none is named), keeps their figures, and writes RELIABILITY.md; --page only writes it;
    --row measures single rows of the matrix in the place of the parts, and prints them
fuzz [--minutes 1] [--seed S]
    fuzzes decoder and service, prints the figures; exit code 1 where something did not hold
soak [--minutes 60] [--seed 1] [--mongo-redis] [--devices 30] [--subscribers 10] [--out FILE]
    keeps its figures in FILE, by default where the page finds them; exit code 1 where something did not hold`;

const DECODER_FRAMES = 10_000_000;
const PARTS = ['matrix', 'decoder', 'service'];
const SERVICE_MS = 60_000;

const options = {
  part: { type: 'string', multiple: true },
  row: { type: 'string', multiple: true },
  devices: { type: 'string' },
  subscribers: { type: 'string' },
  'stop-seconds': { type: 'string' },
  minutes: { type: 'string' },
  seed: { type: 'string' },
  out: { type: 'string' },
  page: { type: 'boolean' },
  'mongo-redis': { type: 'boolean' },
  help: { type: 'boolean' },
} as const;

type Values = ReturnType<typeof read>['values'];

const read = () => parseArgs({ options, allowPositionals: true });

async function main(): Promise<boolean> {
  const { values, positionals } = read();
  const [command] = positionals;
  if (command === 'reliability' && !values.help) return reliability(values);
  if (command === 'fuzz' && !values.help) return fuzz(values);
  if (command === 'soak' && !values.help) return soaked(values);
  console.log(USAGE);
  return values.help === true;
}

async function reliability(values: Values): Promise<boolean> {
  const parts = values.page ? [] : values.row ? ['matrix'] : (values.part ?? PARTS);
  const seed = Number(values.seed ?? 1);
  if (parts.includes('matrix')) await matrix(values);
  if (parts.includes('decoder')) keep('decoder', fuzzDecoder({ seed, frames: DECODER_FRAMES }));
  if (parts.includes('service')) keep('service', await fuzzService({ seed, ms: SERVICE_MS }));
  writeFileSync(fileOf('RELIABILITY.md'), page());
  console.log('RELIABILITY.md is written');
  return true;
}

/** Each row is saved as soon as it is measured. */
async function matrix(values: Values): Promise<void> {
  const scale: MatrixScale = {
    devices: Number(values.devices ?? 100),
    subscribers: Number(values.subscribers ?? 20),
    stopMs: 1000 * Number(values['stop-seconds'] ?? 20),
  };
  for (const row of ROWS.filter(({ id }) => !values.row || values.row.includes(id))) {
    const figures = await runRow(row, scale);
    console.log(values.row ? JSON.stringify(figures, null, 1) : `${row.id}: ${outcome(figures)}`);
    const others = kept('matrix')?.figures ?? [];
    keep('matrix', [...others.filter((it) => it.id !== row.id && place(it) >= 0), figures].toSorted(byPlace));
  }
}

const place = ({ id }: RowFigures) => ROWS.findIndex((row) => row.id === id);
const byPlace = (a: RowFigures, b: RowFigures) => place(a) - place(b);

function outcome({ skipped, failures }: RowFigures): string {
  if (skipped !== undefined) return `not run: ${skipped}`;
  return failures.length === 0 ? 'passed' : failures.join('; ');
}

async function fuzz(values: Values): Promise<boolean> {
  const seed = Number(values.seed ?? Date.now() % 2 ** 31);
  console.log(`seed ${seed}`);
  console.log(JSON.stringify(fuzzDecoder({ seed, frames: DECODER_FRAMES }), null, 1));
  const figures = await fuzzService({ seed, ms: 60_000 * Number(values.minutes ?? 1) });
  console.log(JSON.stringify(figures, null, 1));
  return figures.failures.length === 0;
}

async function soaked(values: Values): Promise<boolean> {
  const mongoRedis = values['mongo-redis'] === true;
  const part = mongoRedis ? 'soak-mongo-redis' : 'soak';
  const { samples, ...figures } = await soak({
    minutes: Number(values.minutes ?? 60),
    seed: Number(values.seed ?? 1),
    mongoRedis,
    devices: Number(values.devices ?? 30),
    subscribers: Number(values.subscribers ?? 10),
    onSample: (sample) => console.log(line(sample)),
  });
  keep(part, { ...figures, samples }, values.out ?? fileOfPart(part));
  console.log(JSON.stringify(figures, null, 1));
  return figures.failures.length === 0;
}

function line({ seconds, servers, store, wal }: SoakSample): string {
  const each = Object.entries(servers).map(
    ([name, { rss, descriptors, handles }]) =>
      `${name}: ${Math.round(rss / 1024)} kB, ${descriptors} descriptors, ${handles} handles`,
  );
  return [`${seconds} s`, ...each, `store ${store}, log ${wal}`].join('; ');
}

process.exitCode = (await main()) ? 0 : 1;
process.exit();
