import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { systemClock } from '@device-insights/fanout/platform/clock';
import { expect } from 'chai';
import { type Store, StoreUnavailable } from '../store.js';
import { partOf, rejection, sampleAccount, sampleInsight, sampleKey, sampleSession } from '../suite/samples.js';
import { connect } from './connection.js';
import { Database } from './database.js';
import { openEmbeddedStore } from './embedded.js';

const WRITER = fileURLToPath(new URL('./writer.fixture.js', import.meta.url));

/** A process that writes to the store as fast as it can, and what it said was done. */
class Writer {
  readonly #process: ChildProcess;
  readonly #lines: Interface;
  #sessionId = '';
  readonly acknowledged: number[] = [];

  constructor(directory: string) {
    this.#process = spawn(process.execPath, [WRITER, directory], { stdio: ['ignore', 'pipe', 'inherit'] });
    if (!this.#process.stdout) throw new Error('the writer has no output');
    this.#lines = createInterface(this.#process.stdout);
    this.#lines.on('line', (line) => {
      if (this.#sessionId) this.acknowledged.push(Number(line));
      else this.#sessionId = line;
    });
  }

  get sessionId(): string {
    return this.#sessionId;
  }

  /** Resolves when that many commits were acknowledged. */
  async reaches(count: number): Promise<void> {
    while (this.acknowledged.length < count) await once(this.#lines, 'line');
  }

  /** kill -9; resolves when all that it had said is read. */
  async kill(): Promise<void> {
    if (this.#process.signalCode) return;
    const closed = once(this.#process, 'close');
    this.#process.kill('SIGKILL');
    await closed;
  }
}

async function windowEnds(store: Store, sessionId: string): Promise<number[]> {
  const ends: number[] = [];
  for await (const batch of store.sessionInsights(sessionId)) ends.push(...batch.map((insight) => insight.actual_end));
  return ends;
}

describe('the embedded store among processes', () => {
  let directory: string;
  let writer: Writer;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'device-insights-'));
    writer = new Writer(directory);
  });

  afterEach(async () => {
    await writer.kill();
    await rm(directory, { recursive: true, maxRetries: 10 });
  });

  it('lets another process write in between, and loses no write', async () => {
    await writer.reaches(1);
    const store = await openEmbeddedStore(directory, systemClock);
    const before = writer.acknowledged.length;
    const accounts = Array.from({ length: 40 }, () => sampleAccount());
    for (const account of accounts) expect(await store.createAccount(account)).to.deep.equal(account);
    await writer.reaches(before + 40);
    await writer.kill();
    expect(await store.accounts()).to.have.deep.members(accounts);
    expect(await windowEnds(store, writer.sessionId)).to.include.members(writer.acknowledged);
    await store.close();
  });
});

describe('an embedded store that another process holds', () => {
  let directory: string;
  let store: Store;
  let holder: Database;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'device-insights-'));
    store = await openEmbeddedStore(directory, systemClock);
    holder = Database.toWrite(join(directory, 'device-insights.db'), systemClock);
    holder.exec('BEGIN IMMEDIATE');
  });

  afterEach(async () => {
    holder.close();
    await store.close();
    await rm(directory, { recursive: true, maxRetries: 10 });
  });

  it('can be read, and is written when the other process has finished, without blocking the event loop', async () => {
    const account = sampleAccount();
    let made = false;
    const making = store.createAccount(account).then((result) => {
      made = true;
      return result;
    });
    for (let i = 0; i < 100; i++) expect(await store.accounts()).to.deep.equal([]);
    expect(made).to.equal(false);
    holder.exec('COMMIT');
    expect(await making).to.deep.equal(account);
  });

  it('rejects a write that has waited for three seconds, without effect', async () => {
    const session = sampleSession();
    const refusals = [store.openSession(session), store.commit([partOf(session, [sampleInsight(session, 0)])])];
    for (const error of await Promise.all(refusals.map(rejection))) expect(error).to.be.instanceOf(StoreUnavailable);
    holder.exec('ROLLBACK');
    expect(await store.session(session.id)).to.equal(null);
  });
});

describe('the thread that writes to an embedded store', () => {
  let directory: string;
  let store: Store;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'device-insights-'));
    store = await openEmbeddedStore(directory, systemClock);
  });

  afterEach(async () => {
    await store.close();
    await rm(directory, { recursive: true, maxRetries: 10 });
  });

  it('puts all waiting writes into one transaction, and a failed write does not affect the others', async () => {
    const [first, second] = [sampleAccount(), sampleAccount()];
    const key = { ...sampleKey({ accountId: first.id }), hash: 'the same' };
    const results = await Promise.allSettled([
      store.createAccount(first),
      store.addKey(key),
      store.addKey({ ...key, id: randomUUID() }),
      store.createAccount(second),
    ]);
    expect(results.map(({ status }) => status)).to.deep.equal(['fulfilled', 'fulfilled', 'rejected', 'fulfilled']);
    expect(await store.accounts()).to.have.deep.members([first, second]);
    expect(await store.keys(null)).to.deep.equal([key]);
  });

  it('cuts the log that has grown while another connection was reading', async () => {
    const file = join(directory, 'device-insights.db');
    const reader = connect(file, 0, 'ro');
    reader.exec('BEGIN');
    reader.prepare('SELECT count(*) FROM accounts').get();
    const mebibyte = 1024 * 1024;
    for (const letter of 'abcdefghij') await store.createAccount(sampleAccount({ name: letter.repeat(4 * mebibyte) }));
    expect((await stat(`${file}-wal`)).size).to.be.above(64 * mebibyte);
    reader.exec('COMMIT');
    reader.close();
    for (let i = 0; i < 2; i++) await store.createAccount(sampleAccount());
    expect((await stat(`${file}-wal`)).size).to.be.at.most(64 * mebibyte);
  });

  it('answers all waiting writes when the store is closed', async () => {
    const [account, session] = [sampleAccount(), sampleSession()];
    const waiting = [store.createAccount(account), store.openSession(session), store.commit([])];
    await store.close();
    expect(await Promise.all(waiting)).to.deep.equal([account, true, []]);
    store = await openEmbeddedStore(directory, systemClock);
    expect(await store.accounts()).to.deep.equal([account]);
  });

  it('reports that it cannot start, and the store is unhealthy from then on', async () => {
    await rm(directory, { recursive: true, maxRetries: 10 });
    expect(await rejection(store.touchKeys([], 0))).to.be.instanceOf(StoreUnavailable);
    expect(String(await rejection(store.probe(0)))).to.include('moved, deleted or replaced');
    await mkdir(directory);
  });

  it('refuses writes when too many wait, and does the others', async () => {
    const accounts = Array.from({ length: 10_050 }, () => sampleAccount());
    const made = await Promise.allSettled(accounts.map((account) => store.createAccount(account)));
    const refused = made.filter(({ status }) => status === 'rejected');
    expect(refused).to.have.length(50);
    for (const { reason } of refused as PromiseRejectedResult[]) expect(reason).to.be.instanceOf(StoreUnavailable);
    expect(await store.accounts()).to.have.length(10_000);
  });
});
