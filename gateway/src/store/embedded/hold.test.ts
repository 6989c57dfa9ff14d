import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '@device-insights/fanout/platform/clock';
import { expect } from 'chai';
import { rejection, sampleAccount } from '../suite/samples.js';
import { Database } from './database.js';
import { openEmbeddedStore, openExistingStore, startEmbeddedStore } from './embedded.js';
import { Held } from './hold.js';
import { OtherSchema } from './schema.js';

describe('the data directory of a service', () => {
  let directory: string;
  let other: ChildProcess | null = null;

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'hold-'));
  });
  afterEach(() => {
    other?.kill('SIGKILL');
    rmSync(directory, { recursive: true, maxRetries: 10 });
  });

  it('is held by one process, which a second one names, until that process ends, even by kill -9', async () => {
    const script = `import { hold } from ${JSON.stringify(new URL('hold.js', import.meta.url).href)};
      hold(process.argv[1]); process.stdout.write('held'); setInterval(() => {}, 1000);`;
    other = spawn(process.execPath, ['--input-type=module', '-e', script, directory], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    if (other.stdout) await once(other.stdout, 'data');
    const error = await rejection(startEmbeddedStore(directory, systemClock));
    expect(error).to.be.instanceOf(Held);
    expect(String(error)).to.match(
      new RegExp(
        `a service runs on ${directory} already \\(process ${other.pid} on ${hostname()}, since .*Z\\): stop it, or`,
      ),
    );
    const ended = once(other, 'close');
    other.kill('SIGKILL');
    await ended;
    const store = await startEmbeddedStore(directory, systemClock);
    expect(await rejection(startEmbeddedStore(directory, systemClock))).to.be.instanceOf(Held);
    await store.close();
    await (await startEmbeddedStore(directory, systemClock)).close();
  });

  it('can be used by commands meanwhile, which make nothing and refuse another schema', async () => {
    expect(String(await rejection(openExistingStore(directory, systemClock)))).to.match(
      /there is no device-insights\.db/,
    );
    const store = await startEmbeddedStore(directory, systemClock);
    const command = await openExistingStore(directory, systemClock);
    const account = sampleAccount();
    await command.createAccount(account);
    expect(await store.account(account.id)).to.deep.equal(account);
    await command.close();
    await store.close();
    const db = Database.toWrite(join(directory, 'device-insights.db'), systemClock);
    db.exec('PRAGMA user_version = 99');
    expect(await rejection(openExistingStore(directory, systemClock))).to.be.instanceOf(OtherSchema);
    db.exec('PRAGMA user_version = 13');
    db.close();
  });

  it('names the row that is broken', async () => {
    const store = await openEmbeddedStore(directory, systemClock);
    const account = sampleAccount({ algorithms: ['hr'] });
    await store.createAccount(account);
    const db = Database.toWrite(join(directory, 'device-insights.db'), systemClock);
    db.exec(`UPDATE accounts SET algorithms = '{"cut'`);
    db.close();
    expect(String(await rejection(store.account(account.id)))).to.match(
      new RegExp(`the row of account ${account.id} .* is broken`),
    );
    await store.close();
  });
});
