import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { createClient, type UserConfig } from '@hey-api/openapi-ts';
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
    const file = pathToFileURL(join(SDK, 'openapi-ts.config.js')).href;
    const { default: config }: { default: UserConfig } = await import(file);
    const output = { ...(config.output as object), path: join(folder, 'generated') };
    await createClient({ ...config, output, logs: { level: 'silent' } });
    expect(await filesUnder(join(folder, 'generated'))).to.deep.equal(await filesUnder(join(SDK, 'src/generated')));
  });
});
