import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const SERVER_CORE = 0;
const LOAD_CORE = 1;
/**
 * Whether server and load each have a core; otherwise the kernel distributes them, and their effect on each other is
 * measured too.
 */
const PINNED = cpus().length > 1 && spawnSync('taskset', ['-V']).status === 0;

/** The benchmarks that the command line names by parts of their names, or all; exits if one of these names none. */
export function chosen<Part>(parts: ReadonlyMap<string, Part>): [string, Part][] {
  const wanted = process.argv.slice(2);
  const unknown = wanted.find((text) => ![...parts.keys()].some((name) => name.includes(text)));
  if (unknown !== undefined) {
    console.error(`there is no benchmark ${JSON.stringify(unknown)}; the names: ${[...parts.keys()].join(', ')}`);
    process.exit(1);
  }
  if (cpus().length < 2) console.log('One core alone: server and load generator share it, and the figures say little.');
  return [...parts].filter(([name]) => wanted.length === 0 || wanted.some((text) => name.includes(text)));
}

/** A server under test, alone on its core. */
export interface Running {
  /** All its processes, whose CPU time is counted. */
  readonly pids: readonly number[];
  readonly port: number;
  /** Resolves once it has ended. */
  stop(): Promise<void>;
}

/** The fields of the load generator's output that are used here. */
export interface Result {
  readonly deliveries_per_cpu_s: number;
  readonly server_busy: number;
  /** CPU seconds per second that other processes used on the server's core. */
  readonly foreign_on_server_core: number;
  readonly client_busy: number;
  /**
   * Messages that a subscriber found in one read: as many as the server wrote at once, or more if the load's core is
   * behind.
   */
  readonly msgs_per_read: number;
  readonly lost: number;
  readonly closes: Readonly<Record<string, number>>;
  readonly latency_ms: Readonly<Record<'p50' | 'p99' | 'p999', number>>;
  readonly bytes_per_sub_idle: number;
}

/**
 * Builds the load generator (test/load); undefined, with a line that says what to install, if Go is missing. This
 * process then runs on the load generator's core.
 */
export function prepare(): string | undefined {
  const source = join(ROOT, 'test/load');
  const binary = join(ROOT, '.cache/load/load');
  const { error, status } = spawnSync('go', ['build', '-o', binary, '.'], { cwd: source, stdio: ['ignore', 2, 2] });
  if (error) console.log('The load generator needs Go 1.19 or later (Debian: apt-get install golang-go).');
  if (error || status !== 0) return undefined;
  if (PINNED) execFileSync('taskset', ['-acp', `${LOAD_CORE}`, `${process.pid}`]); // Inherited by every process started here (Redis).
  process.setMaxListeners(0); // Each child process is killed with this one, however this one ends.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
  return binary;
}

/** Starts a server on its core; `portOf` finds its port, from its output or because the port is fixed. */
export async function startServer(
  command: string,
  args: readonly string[],
  portOf: (child: ChildProcess) => Promise<number>,
  env: NodeJS.ProcessEnv = {},
): Promise<Running> {
  const child = spawnOn(SERVER_CORE, command, args, env);
  const port = await portOf(child);
  child.stdout?.resume();
  const pid = child.pid ?? 0;
  return { pids: [pid, ...childrenOf(pid)], port, stop: () => stop(child) };
}

/**
 * Runs the load generator in one of its modes.
 * @param onEvent receives its events (only of devices: `connected`, `measuring`, `measured`) as they occur
 * @returns its last output
 * @throws if it gives up, after it has printed the cause on stderr
 */
export async function runLoad<T = Result>(
  loadgen: string,
  mode: string,
  pids: readonly number[],
  flags: readonly string[],
  onEvent: (event: string) => void = () => undefined,
): Promise<T> {
  const core = PINNED ? SERVER_CORE : -1;
  const child = spawnOn(LOAD_CORE, loadgen, [mode, '-pids', pids.join(), '-server-core', `${core}`, ...flags], {});
  for await (const line of createInterface({ input: child.stdout ?? process.stdin })) {
    const said = JSON.parse(line) as { event?: string };
    if (said.event === undefined) return said as T;
    onEvent(said.event);
  }
  throw new Error('the load generator gave up');
}

/** Starts a process on the load's core. */
export function startBeside(command: string, args: readonly string[]): ChildProcess {
  return spawnOn(LOAD_CORE, command, args, {});
}

function spawnOn(core: number, command: string, args: readonly string[], env: NodeJS.ProcessEnv): ChildProcess {
  const [program, ...words] = PINNED ? ['taskset', '-c', `${core}`, command, ...args] : [command, ...args];
  const child = spawn(program ?? command, words, {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const killWithUs = () => child.kill('SIGTERM');
  process.once('exit', killWithUs);
  child.once('exit', () => process.off('exit', killWithUs));
  return child;
}

/** `taskset` becomes the command, so these processes belong to the command: nginx has a worker. */
function childrenOf(pid: number): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
}

/** Ends a process; resolves once it has ended. */
export async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGTERM');
  await gone;
}

/** Resolves with the first number that follows `mark` in the output of a process. */
export function saidPort(mark: string): (child: ChildProcess) => Promise<number> {
  return (child) =>
    new Promise((resolve, reject) => {
      let said = '';
      child.stdout?.on('data', (chunk) => {
        said += chunk;
        const from = said.indexOf(mark);
        const port = from < 0 ? undefined : /^\d+(?=\D)/.exec(said.slice(from + mark.length))?.[0];
        if (port) resolve(Number(port));
      });
      child.once('exit', () => reject(new Error(`the server ended before it listened: ${said}`)));
    });
}

/** Resolves with the port, once a process accepts connections on it. */
export function openPort(port: number): (child: ChildProcess) => Promise<number> {
  return async (child) => {
    while (!(await accepts(port))) {
      if (child.exitCode !== null) throw new Error('the server ended before it listened');
      await new Promise((retry) => setTimeout(retry, 20));
    }
    return port;
  };
}

async function accepts(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  const open = await Promise.race([
    once(socket, 'connect').then(() => true),
    once(socket, 'close').then(() => false),
  ]).catch(() => false);
  socket.destroy();
  return open;
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** The value below which this share of the values lies; NaN if there are none. */
export function quantile(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.round((values.length - 1) * share)] ?? Number.NaN;
}
