import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { access, mkdir, rm, symlink } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { aptInstall } from '@device-insights/fanout/test-apt';

/** Programs installed for tests stay in this folder of the user, for the next run in any checkout. */
export const CACHE = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'device-insights-tests');

const INSTALL_MS = 300_000;
const run = promisify(execFile);

/**
 * Path of a program of a Python package for the tests, installed from PyPI if it is missing, which may take minutes.
 * Rejects if it cannot be installed.
 *
 * @param requirement the package with its version, such as `schemathesis==4.32.5`; or several, separated by spaces
 */
export async function pythonProgram(requirement: string, program: string): Promise<string> {
  const home = join(CACHE, requirement.replaceAll('==', '-').replaceAll(' ', '_'));
  const path = join(home, 'current', 'bin', program);
  if (!(await isThere(path))) await install(requirement, home, path);
  return path;
}

/**
 * Installs into a folder of this process and links to it when complete, because several test runs may install at the
 * same time.
 */
async function install(requirement: string, home: string, program: string): Promise<void> {
  const venv = join(home, `venv-${process.pid}`);
  const current = join(home, 'current');
  console.log(`installing ${requirement} into ${home} (pip)`);
  await mkdir(home, { recursive: true });
  try {
    await makeVenv(venv);
    const python = join(venv, 'bin', 'python');
    // Compiled at the first use instead: that of all files would take most of the time.
    const install = ['install', '--quiet', '--no-compile', ...requirement.split(' ')];
    await run('python3', ['-m', 'pip', '--python', python, ...install], { timeout: INSTALL_MS });
    await rm(current, { force: true });
    await symlink(venv, current);
  } catch (error) {
    await rm(venv, { recursive: true, force: true });
    if (!(await isThere(program))) throw error;
  }
}

/** An environment without a pip of its own, which would take 4 s. Debian has pip in a separate package. */
async function makeVenv(venv: string): Promise<void> {
  const make = async () => {
    await run('python3', ['-m', 'pip', '--version']);
    await run('python3', ['-m', 'venv', '--without-pip', venv]);
  };
  try {
    await make();
  } catch (error) {
    if (process.getuid?.() !== 0) throw error;
    console.log('installing python3-pip (apt-get)');
    await rm(venv, { recursive: true, force: true });
    aptInstall('python3', 'python3-pip');
    await make();
  }
}

function isThere(program: string): Promise<boolean> {
  return access(program, constants.X_OK).then(
    () => true,
    () => false,
  );
}
