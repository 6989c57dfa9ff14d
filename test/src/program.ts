import { spawnSync } from 'node:child_process';
import { aptProvide } from '@device-insights/fanout/test-apt';

/** Name of a program on the PATH, which apt-get installs if it is missing and the tests are run by root. */
export function program(name: string, version: string): string {
  if (spawnSync('sh', ['-c', `command -v ${name}`]).status === 0) return name;
  aptProvide(
    name,
    name,
    `install ${name} ${version} or later (Debian: apt-get install ${name}), or put it on the PATH`,
  );
  return name;
}
