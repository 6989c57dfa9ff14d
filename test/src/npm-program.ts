import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { CACHE } from '@device-insights/gateway/test-python';

const INSTALL_MS = 300_000;

/**
 * Path of a program of an npm package for the tests. Installs the package, without its scripts, if it is missing; rejects
 * if that fails.
 *
 * @param requirement the package with its version, such as `@redocly/cli@2.77.0`
 * @param program its path below `node_modules`
 */
export async function npmProgram(requirement: string, program: string): Promise<string> {
  const home = join(CACHE, requirement.replaceAll('/', '-'));
  const path = join(home, 'node_modules', program);
  if (!existsSync(path)) await install(requirement, home);
  return path;
}

/** Installs into a folder of this process, which is renamed when complete: test runs may install at the same moment. */
async function install(requirement: string, home: string): Promise<void> {
  const own = `${home}-${process.pid}`;
  console.log(`installing ${requirement} into ${home} (npm)`);
  await mkdir(own, { recursive: true });
  await writeFile(join(own, 'package.json'), '{"private":true}');
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline'];
  try {
    await promisify(execFile)('npm', ['install', ...options, requirement], { cwd: own, timeout: INSTALL_MS });
    await rename(own, home);
  } catch (error) {
    await rm(own, { recursive: true, force: true, maxRetries: 10 });
    if (!existsSync(home)) throw error;
  }
}
