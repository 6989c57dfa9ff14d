import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { aptProvide } from '@device-insights/fanout/test-apt';
import { temporaryFolder } from './running.js';

/**
 * A wall clock for processes of the tests, which can be set; their monotonic clock and their timers are not affected.
 */
export interface FakeTime {
  /** Variables with which a process is started, so that it uses this clock. */
  readonly env: Readonly<Record<string, string>>;
  /** Sets the clock of all its processes forward, or back if `ms` is negative; at once, also while they run. */
  step(ms: number): void;
  remove(): void;
}

const LIBRARIES = '/usr/lib';

/**
 * A clock that tells the true time until it is set. Uses libfaketime, installed as root by apt-get if it is missing.
 */
export function fakeTime(): FakeTime {
  const library = find() ?? install();
  const { path, remove } = temporaryFolder();
  const file = join(path, 'offset');
  let offsetMs = 0;
  const step = (ms: number) => {
    offsetMs += ms;
    writeFileSync(file, `${offsetMs < 0 ? '-' : '+'}${Math.abs(offsetMs) / 1000}\n`);
  };
  step(0);
  return {
    env: {
      LD_PRELOAD: library,
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_NO_CACHE: '1', // The file is read each time the clock is read.
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    },
    step,
    remove,
  };
}

function find(): string | undefined {
  return readdirSync(LIBRARIES)
    .map((name) => join(LIBRARIES, name, 'faketime', 'libfaketime.so.1'))
    .find((path) => existsSync(path));
}

function install(): string {
  aptProvide('libfaketime', 'libfaketime', 'install libfaketime (Debian: apt-get install libfaketime)');
  const library = find();
  if (!library) throw new Error(`libfaketime was installed, but is not below ${LIBRARIES}/*/faketime`);
  return library;
}
