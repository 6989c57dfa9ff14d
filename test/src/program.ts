import { spawnSync } from 'node:child_process';
import { aptInstall } from '@device-insights/fanout/test-apt';

/** Name of a program on the PATH, which apt-get installs if it is missing and the tests are run by root. */
export function program(name: string, version: string): string {
  if (spawnSync('sh', ['-c', `command -v ${name}`]).status === 0) return name;
  const advice = `install ${name} ${version} or later (Debian: apt-get install ${name}), or put it on the PATH`;
  if (process.getuid?.() !== 0) throw new Error(`These tests need ${name}: ${advice}`);
  console.log(`${name} is not on the PATH: installing it with apt-get`);
  try {
    aptInstall(name);
  } catch (error) {
    throw new Error(`These tests need ${name}, and apt-get could not install it: ${advice}`, { cause: error });
  }
  return name;
}
