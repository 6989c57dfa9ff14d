import type { Contender } from './contenders.js';
import { median, quantile, type Result, type Running, runLoad } from './processes.js';

/** One metric of a run. */
export interface Reading {
  readonly unit: string;
  of(result: Result): number;
}

export interface Comparison {
  readonly title: string;
  /** The load generator's mode: `subscribe` or `memory`. */
  readonly mode: string;
  /** The first is the named baseline; `floor`, if there is one, is shown as a share too. */
  readonly contenders: readonly Contender[];
  readonly channels?: number;
  readonly flags: readonly string[];
  readonly readings: readonly Reading[];
  readonly rounds: number;
  /** Whether each round starts a new process; otherwise the servers stay warm. */
  readonly fresh?: boolean;
}

/** Time until the engine has optimised the servers' code, which takes a second or two of load. */
const WARM_UP_ROUNDS = 2;

type Raw = ReadonlyMap<string, Result[]>;

/**
 * Measures all servers once a round, in rotating order, and compares them within each round: a disturbance of some
 * seconds affects servers measured next to each other alike. The servers live through all rounds, idle while the others
 * are measured, after rounds that only warm them up.
 */
export async function compare(loadgen: string, comparison: Comparison): Promise<void> {
  const { contenders, rounds, fresh = false } = comparison;
  const raw = new Map<string, Result[]>(contenders.map((it) => [it.name, []]));
  const living = new Map<Contender, Running>();
  for (let round = fresh ? 0 : -WARM_UP_ROUNDS; round < rounds; round++) {
    for (const contender of round % 2 === 0 ? contenders : contenders.toReversed()) {
      const server = living.get(contender) ?? (await contender.start());
      const result = await measure(loadgen, comparison, contender, server);
      if (round >= 0) raw.get(contender.name)?.push(result);
      if (fresh) await server.stop();
      else living.set(contender, server);
    }
  }
  for (const server of living.values()) await server.stop();
  report(comparison, raw);
}

function measure(
  loadgen: string,
  { mode, channels = 1, flags }: Comparison,
  contender: Contender,
  server: Running,
): Promise<Result> {
  return runLoad(loadgen, mode, server.pids, [...contender.flags(server.port, channels), ...flags]);
}

function report({ title, readings }: Comparison, raw: Raw): void {
  const [baseline = ''] = raw.keys();
  for (const reading of readings) {
    console.log(`\n${title}: ${reading.unit}`);
    console.log(`  ${'server'.padEnd(12)}   median  x ${baseline} [quartiles]   of floor   each round`);
    for (const name of raw.keys()) console.log(`  ${line(raw, name, baseline, reading)}`);
  }
  for (const [name, results] of raw) console.log(`  ${name.padEnd(12)} ${conditions(results)}`);
}

function line(raw: Raw, name: string, baseline: string, reading: Reading): string {
  const values = readAll(raw, name, reading);
  const ratios = divided(values, readAll(raw, baseline, reading));
  const shares = divided(values, readAll(raw, 'floor', reading));
  const spread = `[${quantile(ratios, 0.25).toFixed(2)} ${quantile(ratios, 0.75).toFixed(2)}]`;
  const share = shares.length > 0 ? median(shares).toFixed(3) : '';
  const each = values.map(short).join(' ');
  return `${name.padEnd(12)} ${short(median(values)).padStart(8)}  ${median(ratios).toFixed(3).padStart(7)} ${spread.padEnd(15)} ${share.padStart(5)}   ${each}`;
}

/** How reliable the run is: the messages lost, and the load of each side's core with its causes. */
function conditions(results: readonly Result[]): string {
  const of = (read: (result: Result) => number) => median(results.map((it) => read(it) ?? 0)).toFixed(2);
  const lost = results.reduce((sum, it) => sum + (it.lost ?? 0), 0);
  const closes = results.reduce((sum, it) => sum + Object.values(it.closes).reduce((a, b) => a + b, 0), 0);
  const busy = `server busy ${of((it) => it.server_busy)}, others on its core ${of((it) => it.foreign_on_server_core)}`;
  const load = `load's core busy ${of((it) => it.client_busy)}, messages a read ${of((it) => it.msgs_per_read)}`;
  return `${busy}; ${load}; lost ${lost}, closed ${closes}`;
}

function readAll(raw: Raw, name: string, { of }: Reading): number[] {
  return (raw.get(name) ?? []).map(of);
}

/** The ratio in each round; empty if there is nothing to divide by. */
function divided(values: readonly number[], by: readonly number[]): number[] {
  return by.map((divisor, round) => (values[round] ?? Number.NaN) / divisor);
}

function short(value: number): string {
  return value >= 100_000 ? `${Math.round(value / 1000)}k` : `${Number(value.toPrecision(4))}`;
}
