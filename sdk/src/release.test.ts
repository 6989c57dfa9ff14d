import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';

const SCRIPT = fileURLToPath(new URL('../release.js', import.meta.url));

describe('a new version', () => {
  const folder = mkdtempSync(join(tmpdir(), 'release-'));
  const changelog = join(folder, 'CHANGELOG.md');
  const release = (text: string) => {
    writeFileSync(changelog, text);
    return spawnSync(process.execPath, [SCRIPT], { cwd: folder, encoding: 'utf8' });
  };

  before(() => writeFileSync(join(folder, 'package.json'), '{"version":"1.2.3"}'));
  after(() => rmSync(folder, { recursive: true }));

  it('uses the unreleased changes as its section of the changelog', () => {
    expect(release('# Changelog\n\n## Unreleased\n\n- New.\n\n## 1.2.2\n\n- Old.\n').status).to.equal(0);
    const expected = '# Changelog\n\n## Unreleased\n\n## 1.2.3\n\n- New.\n\n## 1.2.2\n\n- Old.\n';
    expect(readFileSync(changelog, 'utf8')).to.equal(expected);
  });

  it('is refused if nothing is new', () => {
    const { status, stderr } = release('# Changelog\n\n## Unreleased\n\n## 1.2.2\n\n- Old.\n');
    expect(status).to.equal(1);
    expect(stderr).to.match(/Unreleased/);
  });
});
