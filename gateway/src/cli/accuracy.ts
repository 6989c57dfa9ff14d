import { execFile } from 'node:child_process';
import { createWriteStream, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { finished } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { readRecording } from '@device-insights/sdk/node';
import { Command } from 'commander';
import { analyseOffline, peaksOffline } from './offline.js';
import { scorePeaks } from './peak-score.js';

/** The page whose tables this command makes; the prose around them is written by hand. */
const PAGE = fileURLToPath(new URL('../../../dsp-wasm/ACCURACY.md', import.meta.url));
/** Recordings with this prefix come from optics whose curve is known (recordings' README). */
const CURVES: Readonly<Record<string, readonly number[]>> = { oxiwear: [110.5, -32.8] };

interface Options {
  readonly recordings: string;
  readonly score: string;
}

/** A row of the scorer's output: texts and numbers by column. */
type Row = Readonly<Record<string, string | number | null>>;

async function accuracy({ recordings, score }: Options): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'accuracy-'));
  try {
    const ids = readdirSync(recordings)
      .filter((file) => file.endsWith('.json'))
      .map((file) => file.slice(0, -5));
    for (const [i, id] of ids.entries()) {
      if (process.stderr.isTTY) process.stderr.write(`\r${i + 1}/${ids.length} ${id.padEnd(40)}`);
      await analyse(recordings, id, join(folder, `${id}.jsonl`));
    }
    const scored = await scores(score, recordings, folder);
    const tables = [table(scored[0]), table(scored[1]), table(await peakScores(recordings, ids))];
    if (process.stderr.isTTY) process.stderr.write('\r');
    console.log(tables.join('\n\n'));
    writeFileSync(PAGE, withTables(readFileSync(PAGE, 'utf8'), tables));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function analyse(recordings: string, id: string, file: string): Promise<void> {
  const recording = await readRecording(join(recordings, `${id}.json`));
  const out = createWriteStream(file);
  for await (const insight of analyseOffline(recording, CURVES[id.split('-')[0] ?? ''] ?? null))
    out.write(`${JSON.stringify(insight)}\n`);
  out.end();
  await finished(out);
}

/** What the scorer says per set and per type. */
async function scores(score: string, recordings: string, insights: string): Promise<[Row[], Row[]]> {
  const run = async (...more: string[]) => {
    const args = [score, '--recordings', recordings, '--insights', insights, '--json', ...more];
    return JSON.parse((await promisify(execFile)(process.execPath, args)).stdout) as Row[];
  };
  return [await run(), await run('--types')];
}

/** Precision, recall and F1 of the R peaks (of the first ECG channel) of every recording that has marked beats. */
async function peakScores(recordings: string, ids: readonly string[]): Promise<Row[]> {
  const rows: Row[] = [];
  for (const id of ids) {
    const beats = join(recordings, `${id}.beats.csv`);
    if (!existsSync(beats)) continue;
    const marked = readFileSync(beats, 'utf8').trim().split('\n').slice(1).map(Number);
    const found: number[] = [];
    for await (const { t } of peaksOffline(await readRecording(join(recordings, `${id}.json`)))) found.push(t / 1000);
    rows.push({ what: id, beats: marked.length, found: found.length, ...scorePeaks(marked, found) });
  }
  return rows;
}

function table(rows: readonly Row[]): string {
  const columns = Object.keys(rows[0] ?? {});
  const line = (cells: readonly unknown[]) => `| ${cells.join(' | ')} |`;
  return [
    line(columns),
    line(columns.map(() => '---')),
    ...rows.map((row) => line(columns.map((c) => row[c] ?? ''))),
  ].join('\n');
}

/** Puts the tables where the page says `<!-- table N -->` … `<!-- end -->`. */
function withTables(page: string, tables: readonly string[]): string {
  return tables.reduce((text, rows, i) => {
    const place = new RegExp(`(<!-- table ${i + 1} -->\n)[^]*?(<!-- end -->)`);
    if (!place.test(text)) throw new Error(`ACCURACY.md has no place for table ${i + 1}`);
    return text.replace(place, (_, before: string, after: string) => `${before}${rows}\n${after}`);
  }, page);
}

const command = new Command('accuracy')
  .description('Scores the signal core on recordings with references, and puts the tables into dsp-wasm/ACCURACY.md.')
  .option(
    '--recordings <folder>',
    'the recordings (sdk/RECORDINGS.md), with ID.ref.csv and ID.beats.csv',
    '../shared/recordings',
  )
  .option('--score <file>', 'the scorer', '../shared/score.mjs')
  .action((options: Options) => accuracy({ recordings: resolve(options.recordings), score: resolve(options.score) }));

command.parseAsync().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
