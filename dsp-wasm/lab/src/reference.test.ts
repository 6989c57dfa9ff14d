import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { manifestsIn, readReference } from './reference.js';

describe('the recordings of a folder', () => {
  let folder = '';
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'reference-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('are in the order of their names', () => {
    for (const name of ['b.json', 'a.json', 'a.csv']) writeFileSync(join(folder, name), '');
    expect(manifestsIn(folder)).to.deep.equal(['a.json', 'b.json']);
  });

  it('are missed by name, so that nothing is scored on none', () => {
    expect(() => manifestsIn(folder)).to.throw(`${folder}: there is no recording`);
    writeFileSync(join(folder, 'file'), '');
    for (const other of ['none', 'file', 'file/none'])
      expect(() => manifestsIn(join(folder, other))).to.throw(`${join(folder, other)}: there is no recording`);
  });

  it('are refused by name if they cannot be read', () => {
    writeFileSync(join(folder, 'a.json'), 'no JSON');
    expect(() => readReference(folder, 'a.json')).to.throw(/^a\.json: .*not valid JSON/);
    expect(() => readReference(folder, 'none.json')).to.throw(/^none\.json: ENOENT/);
    writeFileSync(join(folder, 'a.json'), '{"id":"a"}');
    expect(() => readReference(folder, 'a.json')).to.throw(/^a\.json is no manifest of a recording .*: duration_s: /);
  });
});
