import { spawn } from 'node:child_process';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '@device-insights/fanout/test-redis';
import { eventually } from './eventually.js';
import { program } from './program.js';
import { temporaryFolder } from './running.js';
import { collect, ended, fileOf, registered, replaced } from './server-process.js';

const CONFIGURATION = fileOf('gateway/deploy/nginx.conf');

/** The proxy of docker-compose.yml, started for a test. */
export interface TestNginx {
  readonly url: string;
  readonly wsUrl: string;
  /** Its log so far. */
  readonly log: string;
  stop(): Promise<void>;
}

/**
 * Starts nginx with the configuration of the compose file. Only the addresses differ: `servers` maps each `host:port`
 * in it to its replacement, and each must occur. It listens on a free port and uses its own directory for files.
 */
export async function startNginx(servers: Readonly<Record<string, string>>): Promise<TestNginx> {
  const port = await freePort();
  const { path: folder, remove } = temporaryFolder();
  chmodSync(folder, 0o755); // Its workers run as another user if the tests are run by root.
  const places = { 'listen 8080': `listen 127.0.0.1:${port}`, '/tmp/': `${folder}/` };
  const text = replaced(readFileSync(CONFIGURATION, 'utf8'), { ...servers, ...places });
  const file = join(folder, 'nginx.conf');
  writeFileSync(file, text);
  const command = ['-c', file, '-p', folder, '-g', 'daemon off;'];
  const child = registered(
    spawn(program('nginx', '1.22'), command, { stdio: ['ignore', 'ignore', 'pipe'] }),
    'SIGTERM',
  );
  const log = collect(child, 'stderr');
  const url = `http://127.0.0.1:${port}`;
  await eventually('nginx answers', async () => {
    if (child.exitCode !== null) throw new Error(`nginx ended:\n${log()}`);
    return (await fetch(url)).status > 0;
  });
  return {
    url,
    wsUrl: url.replace('http', 'ws'),
    get log() {
      return log();
    },
    stop: async () => {
      await ended(child, 'SIGTERM');
      remove();
    },
  };
}
