import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { fileOf } from '../server-process.js';
import { fuzzDecoder } from './decoder-fuzz.js';
import { type MatrixScale, type RowFigures, runRows } from './matrix.js';
import { type Figures, withFigures } from './page.js';
import { ROWS } from './rows.js';
import { fuzzService } from './service-fuzz.js';
import { type SoakSample, soak } from './soak.js';

const USAGE = `reliability [--part matrix|decoder|service]… [--row ID]… [--devices 100] [--subscribers 20] [--stop-seconds 20] [--seed 1]
    measures the parts (default: all three), and writes each into RELIABILITY.md; --row measures single rows of the matrix
    instead, and prints them
fuzz [--minutes 1] [--seed S]
    fuzzes decoder and service and prints the figures; the exit code is 1 if a requirement was not met
soak [--minutes 60] [--seed 1] [--mongo-redis] [--devices 30] [--subscribers 10]
    prints a sample each ten seconds, and writes RELIABILITY.md; the exit code is 1 if a requirement was not met`;

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
  'mongo-redis': { type: 'boolean' },
  help: { type: 'boolean' },
} as const;

const NUMBERS = ['devices', 'subscribers', 'stop-seconds', 'minutes', 'seed'] as const;

const parse = () => parseArgs({ options, allowPositionals: true });

type Values = ReturnType<typeof parse>['values'];

const COMMANDS = new Map([
  ['reliability', reliability],
  ['fuzz', fuzz],
  ['soak', saveSoak],
]);

/** The words of the command line. Throws an error that names the wrong one. */
function read() {
  const { values, positionals } = parse();
  for (const name of NUMBERS) {
    const text = values[name];
    if (text !== undefined && !/^\d+(\.\d+)?$/.test(text)) throw new Error(`--${name} must be a number, not ${text}`);
  }
  assertKnown('part', values.part, PARTS);
  assertKnown(
    'row',
    values.row,
    ROWS.map(({ id }) => id),
  );
  const [name = ''] = positionals;
  const command = COMMANDS.get(name);
  if (!command && !values.help) throw new Error(`there is no command ${name}`);
  return { values, command };
}

function assertKnown(what: string, asked: readonly string[] | undefined, known: readonly string[]): void {
  const unknown = asked?.find((name) => !known.includes(name));
  if (unknown !== undefined) throw new Error(`there is no ${what} ${unknown}; known are ${known.join(', ')}`);
}

/** Returns whether the command succeeded. */
async function main(): Promise<boolean> {
  let asked: ReturnType<typeof read>;
  try {
    asked = read();
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : error}\n${USAGE}`);
    return false;
  }
  const { values, command } = asked;
  if (command && !values.help) return command(values);
  console.log(USAGE);
  return true;
}

async function reliability(values: Values): Promise<boolean> {
  const scale: MatrixScale = {
    devices: Number(values.devices ?? 100),
    subscribers: Number(values.subscribers ?? 20),
    stopMs: 1000 * Number(values['stop-seconds'] ?? 20),
  };
  if (values.row) {
    const rows = ROWS.filter(({ id }) => values.row?.includes(id));
    for await (const figures of runRows(rows, scale)) console.log(JSON.stringify(figures, null, 1));
    return true;
  }
  const parts = values.part ?? PARTS;
  const seed = Number(values.seed ?? 1);
  if (parts.includes('matrix')) report('matrix', await matrix(scale));
  if (parts.includes('decoder')) report('decoder', fuzzDecoder({ seed, frames: DECODER_FRAMES }));
  if (parts.includes('service')) report('service', await fuzzService({ seed, ms: SERVICE_MS }));
  return true;
}

/** Writes the figures of a section into the page. */
function report<P extends keyof Figures>(part: P, figures: Figures[P]): void {
  const file = fileOf('RELIABILITY.md');
  writeFileSync(file, withFigures(readFileSync(file, 'utf8'), part, figures));
  console.log(`RELIABILITY.md has the new figures of ${part}`);
}

async function matrix(scale: MatrixScale): Promise<RowFigures[]> {
  const all: RowFigures[] = [];
  for await (const figures of runRows(ROWS, scale)) {
    console.log(`${figures.id}: ${outcome(figures)}`);
    all.push(figures);
  }
  return all;
}

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

async function saveSoak(values: Values): Promise<boolean> {
  const mongoRedis = values['mongo-redis'] === true;
  const figures = await soak({
    minutes: Number(values.minutes ?? 60),
    seed: Number(values.seed ?? 1),
    mongoRedis,
    devices: Number(values.devices ?? 30),
    subscribers: Number(values.subscribers ?? 10),
    onSample: (sample) => console.log(line(sample)),
  });
  report(mongoRedis ? 'soak-mongo-redis' : 'soak', figures);
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
