import { execFileSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const LOCK = join(tmpdir(), 'device-insights-apt.lock');

/**
 * Runs apt-get in a folder; if it fails, once more with current package lists. Test files that run at the same time take
 * turns: apt-get fails if another one is running.
 */
export function aptGet(words: readonly string[], cwd = tmpdir()): void {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const run = (...all: string[]) => execFileSync('flock', [LOCK, 'apt-get', '-q', ...all], { cwd, env, stdio: 'pipe' });
  try {
    run(...words);
  } catch {
    run('update');
    run(...words);
  }
}

/** Installs a package of Debian that tests need; throws an error with advice if it cannot. */
export function aptProvide(name: string, need: string, advice: string): void {
  if (process.getuid?.() !== 0) throw new Error(`These tests need ${need}: ${advice}`);
  console.log(`${need} is not there: installing ${name} with apt-get`);
  try {
    aptInstall(name);
  } catch (error) {
    throw new Error(`These tests need ${need}, and apt-get could not install it: ${advice}`, { cause: error });
  }
}

/** Installs packages of Debian. Needs root. */
export function aptInstall(...names: string[]): void {
  aptGet(['install', '-y', '--no-install-recommends', ...names]);
}
