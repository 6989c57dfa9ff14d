import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { aptProvide } from '../../apt.fixture.js';

/** A Redis server for the tests: on a free port, without files that outlive it. */
export interface TestRedis {
  readonly url: string;
  readonly port: number;
  /** Kills the server (`SIGKILL`), as a crash would; resolves once it has ended. */
  kill(): Promise<void>;
  /** Starts it again on the same port; resolves once it answers. */
  restart(): Promise<void>;
  /** Stops the server's process, or lets it continue: its sockets stay open but answer nothing. */
  freeze(frozen: boolean): void;
  stop(): Promise<void>;
}

let found: string | undefined;

/**
 * Path of `redis-server`: from the PATH, or installed as root by apt-get; throws an error that says what to install if
 * neither works.
 */
export function findRedisServer(): string {
  found ??= onPath() ?? install();
  return found;
}

function onPath(): string | undefined {
  const { status, stdout } = spawnSync('sh', ['-c', 'command -v redis-server'], { encoding: 'utf8' });
  return status === 0 ? stdout.trim() : undefined;
}

function install(): string {
  const advice = 'install Redis 7.0 or later (Debian: apt-get install redis-server), or put redis-server on the PATH';
  aptProvide('redis-server', 'a Redis server', advice);
  return onPath() ?? 'redis-server';
}

/**
 * Starts a server; `extra` are further arguments. Call `stop` at the end; a process that ends takes its servers with
 * it.
 */
export async function startRedis(extra: readonly string[] = []): Promise<TestRedis> {
  const port = await freePort();
  const directory = mkdtempSync(join(tmpdir(), 'redis-'));
  const run = () => launch(port, directory, extra);
  let child = await run();
  const kill = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  };
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    kill,
    restart: async () => {
      child = await run();
    },
    freeze: (frozen) => child.kill(frozen ? 'SIGSTOP' : 'SIGCONT'),
    stop: async () => {
      await kill();
      rmSync(directory, { recursive: true, force: true, maxRetries: 10 });
    },
  };
}

async function launch(port: number, directory: string, extra: readonly string[]): Promise<ChildProcess> {
  const settings = ['--port', `${port}`, '--bind', '127.0.0.1', '--save', '', '--dir', directory, '--daemonize', 'no'];
  const child = spawn(findRedisServer(), [...settings, ...extra], { stdio: ['ignore', 'pipe', 'inherit'] });
  const killWithUs = () => child.kill('SIGKILL');
  process.once('exit', killWithUs);
  child.once('exit', () => process.off('exit', killWithUs));
  await readiness(child);
  return child;
}

/** Resolves once the server reports that it accepts connections. */
function readiness(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let said = '';
    child.stdout?.on('data', (chunk) => {
      said += chunk;
      if (said.includes('Ready to accept connections')) resolve();
    });
    child.once('exit', () => reject(new Error(`redis-server ended before it was ready:\n${said}`)));
    child.once('error', reject);
  });
}

/** Below the ports that Linux, macOS and Windows give to connections and to servers that ask for any port. */
const PORTS = { first: 20_000, end: 32_000 };

/** A free TCP port outside the range from which the system assigns ports. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(PORTS.first, PORTS.end);
    const server = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false));
      server.listen(port, '127.0.0.1', () => resolve(true));
    });
    if (!isFree) continue;
    server.close();
    await once(server, 'close');
    return port;
  }
}
