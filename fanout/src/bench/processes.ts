import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const SERVER_CORE = 0;
const LOAD_CORE = 1;

/** A server under test, alone on its core. */
export interface Running {
  /** All its processes: their CPU time is counted. */
  readonly pids: readonly number[];
  readonly port: number;
  /** Resolves once it is gone. */
  stop(): Promise<void>;
}

/** What the load generator prints, as far as it is used here. */
export interface Result {
  readonly deliveries_per_cpu_s: number;
  readonly server_busy: number;
  /** CPU seconds a second that others took of the server's core. */
  readonly foreign_on_server_core: number;
  readonly client_busy: number;
  /** Messages that a subscriber found in one read: as many as the server wrote at once, or more where the load's core is behind. */
  readonly msgs_per_read: number;
  readonly lost: number;
  readonly closes: Readonly<Record<string, number>>;
  readonly latency_ms: Readonly<Record<'p50' | 'p99' | 'p999', number>>;
  readonly bytes_per_sub_idle: number;
}

/** Builds the load generator from the folder in LOADGEN; undefined where there is none. Its core is this process's from now on. */
export function prepare(): string | undefined {
  const source = resolve(process.env.LOADGEN ?? join(ROOT, '../shared/loadgen'));
  if (!existsSync(source)) {
    console.log(`No load generator at ${source}: set LOADGEN to the folder of its source.`);
    return undefined;
  }
  const binary = join(mkdtempSync(join(tmpdir(), 'fanout-bench-')), 'loadgen');
  execFileSync('go', ['build', '-o', binary, '.'], { cwd: source, stdio: 'inherit' });
  execFileSync('taskset', ['-cp', `${LOAD_CORE}`, `${process.pid}`]); // Whatever is started here (Redis) inherits it.
  process.setMaxListeners(0); // Each child process is killed with us.
  return binary;
}

/** Starts a server on its core; `portOf` says where it listens, from its own words or because that was fixed before. */
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

/** Runs the load generator in one of its modes. */
export async function runLoad(loadgen: string, mode: string, pids: readonly number[], flags: readonly string[]) {
  const args = [mode, '-pids', pids.join(), '-server-core', `${SERVER_CORE}`, ...flags];
  const child = spawnOn(LOAD_CORE, loadgen, args, {});
  let printed = '';
  for await (const chunk of child.stdout ?? []) printed += chunk;
  return JSON.parse(printed) as Result;
}

function spawnOn(core: number, command: string, args: readonly string[], env: NodeJS.ProcessEnv): ChildProcess {
  const child = spawn('taskset', ['-c', `${core}`, command, ...args], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const killWithUs = () => child.kill('SIGTERM');
  process.once('exit', killWithUs);
  child.once('exit', () => process.off('exit', killWithUs));
  return child;
}

/** `taskset` becomes the command, so these are the command's own: nginx has a worker. */
function childrenOf(pid: number): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
}

async function stop(child: ChildProcess): Promise<void> {
  const gone = once(child, 'exit');
  child.kill('SIGTERM');
  await gone;
}

/** Resolves with the first number that follows `mark` in what a process prints. */
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

/** Resolves with the port, once something accepts connections on it. */
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
