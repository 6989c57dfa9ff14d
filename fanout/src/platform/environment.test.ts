import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { ConfigError } from './config-error.js';
import { misspelt, variablesOf } from './environment.js';

describe('the environment', () => {
  const folder = mkdtempSync(join(tmpdir(), 'environment-'));
  const file = join(folder, 'password');
  writeFileSync(file, 'a secret\n');
  after(() => rmSync(folder, { recursive: true }));

  it('gives a secret from its file, without the line end', () => {
    expect(variablesOf({ PASSWORD_FILE: file, EMPTY: '' }, ['PASSWORD'])).to.deep.equal({
      PASSWORD_FILE: file,
      PASSWORD: 'a secret',
    });
  });

  it('refuses a secret that is given twice, and a file that cannot be read', () => {
    const twice = { PASSWORD: 'x', PASSWORD_FILE: file };
    expect(() => variablesOf(twice, ['PASSWORD'])).to.throw(ConfigError, /^PASSWORD_FILE and PASSWORD are both set/);
    const nowhere = { PASSWORD_FILE: join(folder, 'none') };
    expect(() => variablesOf(nowhere, ['PASSWORD'])).to.throw(ConfigError, /^PASSWORD_FILE cannot be read: .*none/);
  });

  it('names the variable that was meant by one with a letter or two wrong, and no other', () => {
    const of = (name: string) => misspelt({ [name]: 'x' }, ['PORT', 'HOST', 'DATA_DIR', 'REDIS_URL'], ['REDIS_URL']);
    for (const [name, meant] of [
      ['DATADIR', 'DATA_DIR'],
      ['DATA_DRI', 'DATA_DIR'],
      ['REDIS_URI', 'REDIS_URL'],
      ['REDIS_URL_FIL', 'REDIS_URL_FILE'],
      ['PROT_', null],
      ['PORTS', 'PORT'],
      ['HOME', null],
      ['PATH', null],
      ['PORT', null],
      ['REDIS_URL_FILE', null],
    ] as const)
      expect(of(name)[0] ?? null, name).to.equal(
        meant && `${name} is not a variable of the service, and has no effect: did you mean ${meant}?`,
      );
  });
});
