import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';

const SDK = fileURLToPath(new URL('..', import.meta.url));

async function filesUnder(folder: string): Promise<Record<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return Object.fromEntries(
    await Promise.all(files.map(async (file) => [file.slice(folder.length), await readFile(file, 'utf8')])),
  );
}

describe('generated types of REST and of messages', () => {
  let folder = '';
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'generated-'));
  });
  after(() => rm(folder, { recursive: true }));

  it('equals the output of the generator for the current OpenAPI document and contract (npm run generate -w sdk)', async () => {
    const generator = fileURLToPath(import.meta.resolve('@hey-api/openapi-ts')).replace(/dist\/.*/, 'bin/run.js');
    const options = ['-f', join(SDK, 'openapi-ts.config.js'), '-o', join(folder, 'generated')];
    await promisify(execFile)(process.execPath, [generator, ...options, '--no-log-file'], { cwd: SDK });
    expect(await filesUnder(join(folder, 'generated'))).to.deep.equal(await filesUnder(join(SDK, 'src/generated')));
  });
});
