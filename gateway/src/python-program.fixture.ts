import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { aptInstall } from '@device-insights/fanout/test-apt';

/** Programs installed for tests stay in this folder of the user, for the next run in any checkout. */
export const CACHE = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'device-insights-tests');

const INSTALL_MS = 600_000;
const run = promisify(execFile);
/**
 * Makes an environment without a pip of its own, which would take 4 s, and compiles nothing before its first use, which
 * would take most of the time.
 */
const INSTALL = `set -e
if [ -e "$0/complete" ]; then exit; fi
rm -rf "$0"
python3 -m venv --without-pip "$0"
python3 -m pip --python "$0/bin/python" install --quiet --no-compile "$@"
touch "$0/complete"`;

/**
 * Path of a program of a Python package for the tests, installed from PyPI if it is missing, which may take minutes.
 * Rejects if it cannot be installed.
 *
 * @param requirement the package with its version, such as `schemathesis==4.32.5`; or several, separated by spaces
 */
export async function pythonProgram(requirement: string, program: string): Promise<string> {
  const home = join(CACHE, requirement.replaceAll('==', '-').replaceAll(' ', '_'));
  if (!existsSync(join(home, 'complete'))) await install(requirement, home);
  return join(home, 'bin', program);
}

/** Several test runs may need the same program at the same time: one installs it, the others wait. */
async function install(requirement: string, home: string): Promise<void> {
  console.log(`installing ${requirement} into ${home} (pip)`);
  await mkdir(CACHE, { recursive: true });
  await ensurePip();
  const words = [`${home}.lock`, 'sh', '-c', INSTALL, home, ...requirement.split(' ')];
  await run('flock', words, { timeout: INSTALL_MS });
}

/** Debian has pip in a separate package. */
async function ensurePip(): Promise<void> {
  try {
    await run('python3', ['-m', 'pip', '--version']);
  } catch (error) {
    if (process.getuid?.() !== 0) throw error;
    console.log('installing python3-pip (apt-get)');
    aptInstall('python3', 'python3-pip');
  }
}
