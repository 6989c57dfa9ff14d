import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { aptInstall } from '@device-insights/fanout/test-apt';

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
  const folder = mkdtempSync(join(tmpdir(), 'device-insights-clock-'));
  const file = join(folder, 'offset');
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
    remove: () => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }),
  };
}

function find(): string | undefined {
  return readdirSync(LIBRARIES)
    .map((name) => join(LIBRARIES, name, 'faketime', 'libfaketime.so.1'))
    .find((path) => existsSync(path));
}

function install(): string {
  const advice = 'install libfaketime (Debian: apt-get install libfaketime)';
  if (process.getuid?.() !== 0) throw new Error(`These tests need libfaketime: ${advice}`);
  console.log('libfaketime is not there: installing it with apt-get');
  try {
    aptInstall('libfaketime');
  } catch (error) {
    throw new Error(`These tests need libfaketime, and apt-get could not install it: ${advice}`, { cause: error });
  }
  const library = find();
  if (!library) throw new Error(`libfaketime was installed, but is not below ${LIBRARIES}/*/faketime`);
  return library;
}
