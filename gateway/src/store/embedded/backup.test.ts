import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '@device-insights/fanout/platform/clock';
import { expect } from 'chai';
import { newMoment, opened, partOf, rejection, sampleInsight } from '../suite/samples.js';
import { backUp, restore, verify, verifyStore } from './backup.js';
import { openEmbeddedStore } from './embedded.js';

describe('a backup file of the embedded store', () => {
  let folder: string;
  let data: string;
  let file: string;

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'backup-'));
    data = join(folder, 'data');
    file = join(folder, 'backup.db');
    const store = await openEmbeddedStore(data, systemClock);
    const session = await opened(store);
    const at = newMoment();
    const insights = Array.from({ length: 500 }, (_, i) => sampleInsight(session, at + i * 1000));
    await store.commit([partOf(session, insights)]);
    await store.close();
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('can be verified, which changes nothing, and so can the store', async () => {
    await backUp(data, file);
    const before = readFileSync(file);
    await verify(file);
    await verifyStore(data);
    expect(readFileSync(file).equals(before)).to.equal(true);
    expect(readdirSync(folder)).to.have.members(['backup.db', 'data']);
  });

  it('is found to be damaged by its verification, with the damage', async () => {
    await backUp(data, file);
    const bytes = readFileSync(file);
    bytes.fill('bad ', bytes.length - 2 * 4096);
    writeFileSync(file, bytes);
    expect(String(await rejection(verify(file)))).to.match(
      /backup\.db is damaged, or no backup.*\(.+\): use another one/,
    );
    expect(String(await rejection(verify(join(folder, 'none'))))).to.match(/there is no file .*none/);
  });

  it('is to be restored if the store is found to be damaged by its verification', async () => {
    const store = join(data, 'device-insights.db');
    const bytes = readFileSync(store);
    bytes.fill('bad ', bytes.length - 2 * 4096);
    writeFileSync(store, bytes);
    expect(String(await rejection(verifyStore(data)))).to.match(
      /device-insights\.db is damaged.*restore the data directory/,
    );
  });

  it('removes what a command that was killed has left, and leaves that of one that runs', async () => {
    const { pid } = spawnSync(process.execPath, ['--version']); // It has ended.
    const running = join(folder, `other.db.partial-${process.ppid}`);
    for (const path of [`${file}.partial-${pid}`, join(folder, `old.db.partial-${pid}-journal`), running])
      writeFileSync(path, 'part');
    await backUp(data, file);
    expect(readdirSync(folder)).to.have.members(['backup.db', 'data', `other.db.partial-${process.ppid}`]);
  });

  it('does not replace a link that leads nowhere', async () => {
    symlinkSync(join(folder, 'nowhere'), file);
    expect(String(await rejection(backUp(data, file)))).to.match(/backup\.db exists, and is never replaced/);
    expect(existsSync(join(folder, 'nowhere'))).to.equal(false);
  });

  it('leaves nothing if it cannot be restored', async () => {
    await backUp(data, file);
    truncateSync(file, 3 * 4096);
    await rejection(restore(join(folder, 'new', 'data'), file));
    expect(readdirSync(folder)).to.have.members(['backup.db', 'data']);
    rmSync(file);
    await backUp(data, file);
    await restore(join(folder, 'new', 'data'), file);
    await verifyStore(join(folder, 'new', 'data'));
  });
});
