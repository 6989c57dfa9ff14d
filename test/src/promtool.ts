import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { aptGet } from '@device-insights/fanout/test-apt';
import { CACHE } from '@device-insights/gateway/test-python';

const ADVICE = 'put promtool on the PATH (Debian: apt-get install prometheus)';

/** Output and exit code of a run of promtool. */
interface Verdict {
  readonly code: number | null;
  readonly said: string;
}

/** Runs promtool. */
export function promtool(args: readonly string[], input = ''): Verdict {
  const { status, stdout, stderr } = spawnSync(findPromtool(), args, { input, encoding: 'utf8' });
  return { code: status, said: `${stdout}${stderr}` };
}

/**
 * Path of promtool: from the PATH, or from Debian's package, which is only unpacked, as installing it would start a
 * server.
 */
function findPromtool(): string {
  if (spawnSync('sh', ['-c', 'command -v promtool']).status === 0) return 'promtool';
  const path = join(CACHE, 'promtool');
  if (!existsSync(path)) fetchPromtool(path);
  return path;
}

function fetchPromtool(path: string): void {
  console.log(`promtool is not on the PATH: taking it out of Debian's package prometheus, into ${path}`);
  const folder = mkdtempSync(join(tmpdir(), 'device-insights-promtool-'));
  const options = { cwd: folder, stdio: 'pipe' } as const;
  try {
    aptGet(['download', 'prometheus'], folder);
    const [file = ''] = readdirSync(folder).filter((name) => name.endsWith('.deb'));
    execFileSync('dpkg-deb', ['-x', file, 'package'], options);
    mkdirSync(CACHE, { recursive: true });
    // Through a copy beside it: another run may download it at the same time.
    execFileSync('cp', ['package/usr/bin/promtool', `${path}-${process.pid}`], options);
    renameSync(`${path}-${process.pid}`, path);
  } catch (error) {
    throw new Error(`These tests need promtool, and apt-get could not bring it: ${ADVICE}`, { cause: error });
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  }
}
