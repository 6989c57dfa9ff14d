import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { aptProvide } from '@device-insights/fanout/test-apt';
import { type Browser, chromium } from 'playwright-core';

/** The headless shell needs a third of the CPU time of the whole browser to start and to open pages. */
const SHELL = 'chromium-headless-shell';
const NAMES = [SHELL, 'chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

/**
 * Starts a headless Chromium: the one on the PATH, or Debian's, installed as root; fails with a line that says what to
 * install.
 */
export function launchChromium(): Promise<Browser> {
  const executablePath = onPath() ?? install();
  return chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'] });
}

function onPath(): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter);
  return folders.flatMap((folder) => NAMES.map((name) => join(folder, name))).find((path) => existsSync(path));
}

function install(): string {
  aptProvide(SHELL, 'Chromium', 'put it on the PATH, or run them as root on Debian');
  return onPath() ?? `/usr/bin/${SHELL}`;
}
