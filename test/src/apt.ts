import { execFileSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const LOCK = join(tmpdir(), 'device-insights-apt.lock');

/** Runs apt-get in a folder. Test files that run at the same time take turns: apt-get fails if another one is running. */
export function aptGet(words: readonly string[], cwd = tmpdir()): void {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  execFileSync('flock', [LOCK, 'apt-get', '-q', ...words], { cwd, env, stdio: 'pipe' });
}

/** Installs a package of Debian. Needs root. */
export function aptInstall(name: string): void {
  aptGet(['update']);
  aptGet(['install', '-y', '--no-install-recommends', name]);
}
