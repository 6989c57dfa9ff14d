import { execFile, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { systemClock } from '@device-insights/fanout/platform/clock';
import { expect } from 'chai';
import { openEmbeddedStore } from '../store/embedded/embedded.js';

const ADMIN = fileURLToPath(new URL('./admin.js', import.meta.url));

describe('the admin command', () => {
  let folder: string;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'admin-command-'));
    await (await openEmbeddedStore(folder, systemClock)).close();
  });
  after(() => rm(folder, { recursive: true, maxRetries: 10 }));

  function admin(words: string[], env: Record<string, string> = {}) {
    return new Promise<{ code: number; out: string; err: string }>((resolve) => {
      const child = execFile(
        process.execPath,
        [ADMIN, ...words],
        { env: { PATH: process.env.PATH, DATA_DIR: folder, ...env } },
        (_, out, err) => resolve({ code: child.exitCode ?? -1, out, err }),
      );
    });
  }

  it('prints one JSON object or array, and works while another process has the store open', async () => {
    const store = await openEmbeddedStore(folder, systemClock);
    try {
      const made = await admin(['account', 'create', 'clinic']);
      expect([made.code, made.err]).to.deep.equal([0, '']);
      const account = JSON.parse(made.out) as { id: string; algorithms: string[] };
      expect(await store.account(account.id)).to.include({ name: 'clinic' });
      expect(account.algorithms).to.have.length.greaterThan(3);
      const list = await admin(['account', 'list']);
      expect(JSON.parse(list.out)).to.deep.equal([account]);
    } finally {
      await store.close();
    }
  });

  it('writes the user of the system, also behind sudo, into the audit log', async () => {
    await admin(['account', 'create', 'by-user']);
    await admin(['account', 'create', 'by-sudo'], { SUDO_USER: 'ann' });
    const { out } = await admin(['audit', 'list', '--limit', '2']);
    expect((JSON.parse(out) as { actor: string }[]).map(({ actor }) => actor)).to.deep.equal([
      'admin command of ann',
      `admin command of ${userInfo().username}`,
    ]);
  });

  it('reports unknown and taken names in one line on stderr, with exit code 1', async () => {
    for (const words of [['key', 'revoke', 'x\ny'], ['account', 'create', 'clinic'], ['nope'], ['key'], []]) {
      const { code, out, err } = await admin(words);
      expect([code, out], words.join(' ')).to.deep.equal([1, '']);
      expect(err, words.join(' ')).to.match(/^[^\n]+\n$/);
    }
  });

  it('fails if its result, such as a new key, cannot be written', async () => {
    const { PATH } = process.env;
    const command = `exec "${process.execPath}" "${ADMIN}" account list > /dev/full`;
    const options = { shell: true, env: { PATH, DATA_DIR: folder }, encoding: 'utf8' } as const;
    const { status, stderr } = spawnSync(command, options);
    expect(status).to.equal(1);
    expect(stderr).to.match(/^the command was carried out, but its result could not be written: ENOSPC[^\n]*\n$/);
  });

  it('makes no store where there is none, such as at a mistyped DATA_DIR', async () => {
    const nowhere = join(folder, 'nowhere');
    for (const words of [
      ['account', 'list'],
      ['account', 'create', 'x'],
      ['operator', 'list'],
    ]) {
      const { code, out, err } = await admin(words, { DATA_DIR: nowhere });
      expect([code, out], words.join(' ')).to.deep.equal([1, '']);
      expect(err).to.match(/^there is no device-insights\.db in \S+nowhere: check DATA_DIR; [^\n]+\n$/);
      expect(existsSync(nowhere)).to.equal(false);
    }
  });

  it('reports the fault of the configuration', async () => {
    const { code, err } = await admin(['account', 'list'], { MONGODB_URI: 'nonsense' });
    expect(code).to.equal(1);
    expect(err).to.match(/^MONGODB_URI [^\n]+\n$/);
  });

  it('has a readable --help', async () => {
    const { code, out, err } = await admin(['--help']);
    expect([code, err]).to.deep.equal([0, '']);
    for (const word of ['account', 'key', 'device', 'DATA_DIR']) expect(out).to.contain(word);
    expect((await admin(['key', 'issue', '--help'])).out).to.contain('--user <U>');
  });
});
