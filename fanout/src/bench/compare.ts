import type { Contender } from './contenders.js';
import { median, type Result, type Running, runLoad } from './processes.js';
import type { Report } from './report.js';

/** One metric of a run. */
export interface Reading {
  readonly unit: string;
  of(result: Result): number;
}

export interface Comparison {
  readonly title: string;
  /** The load generator's mode: `subscribe` or `memory`. */
  readonly mode: string;
  /** The first is the named baseline; ratios to `floor`, if there is one, are shown too. */
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
export async function compare(loadgen: string, report: Report, comparison: Comparison): Promise<void> {
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
  show(report, comparison, raw);
}

function measure(
  loadgen: string,
  { mode, channels = 1, flags }: Comparison,
  contender: Contender,
  server: Running,
): Promise<Result> {
  return runLoad(loadgen, mode, server.pids, [...contender.flags(server.port, channels), ...flags]);
}

/** The values of each server, and their ratios to the baseline, and to the floor, in each round. */
function show(report: Report, { title, readings }: Comparison, raw: Raw): void {
  const [baseline = ''] = raw.keys();
  report.part(title);
  for (const { unit, of } of readings) {
    const values = (name: string) => raw.get(name)?.map(of) ?? [];
    for (const name of raw.keys()) report.figure(name, unit, values(name));
    for (const other of new Set([baseline, 'floor']))
      for (const name of raw.keys())
        if (name !== other && raw.has(other)) report.ratio(`${name} to ${other}: ${unit}`, values(name), values(other));
  }
  for (const [name, results] of raw) console.log(`  ${name.padEnd(12)} ${conditions(results)}`);
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
