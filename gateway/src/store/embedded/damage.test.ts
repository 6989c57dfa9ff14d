import { execFile } from 'node:child_process';
import { copyFile, mkdtemp, rename, rm, stat, truncate } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { systemClock } from '@device-insights/fanout/platform/clock';
import { expect } from 'chai';
import { type Session, type Store, StoreUnavailable } from '../store.js';
import { newMoment, partOf, rejection, sampleInsight, sampleSession } from '../suite/samples.js';
import { Database } from './database.js';
import { CAN_FAIL_READS, failReads } from './disk-fault.fixture.js';
import { openEmbeddedStore } from './embedded.js';

const run = promisify(execFile);

describe('an embedded store whose file is damaged', () => {
  let directory: string;
  let store: Store;
  let session: Session;
  const file = () => join(directory, 'device-insights.db');

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'device-insights-'));
    store = await openEmbeddedStore(directory, systemClock);
    session = sampleSession();
    await store.openSession(session);
    await fill();
    await store.close(); // all is in the file, nothing in its log
    store = await openEmbeddedStore(directory, systemClock);
    await store.probe(newMoment());
  });

  afterEach(async () => {
    await store.close();
    await rm(directory, { recursive: true, maxRetries: 10 });
  });

  const fill = async () => {
    const at = newMoment();
    await store.commit([
      partOf(
        session,
        Array.from({ length: 2000 }, (_, i) => sampleInsight(session, at + i * 1000)),
      ),
    ]);
  };

  const commit = () => store.commit([partOf(session, [sampleInsight(session, newMoment())])]);

  /** In another process, because a process that closes a file loses all its locks on it. */
  const overwrite = async (from: number, length: number) => {
    const script = `fs.writeSync(fs.openSync(${JSON.stringify(file())}, 'r+'), Buffer.alloc(${length}, 'bad '), 0, ${length}, ${from})`;
    await run(process.execPath, ['-e', script]);
  };

  /** Expects that the probe and a commit both fail, and say what to do. */
  const expectSick = async (what: RegExp) => {
    for (const call of [() => store.probe(newMoment()), commit]) {
      const error = await rejection(call());
      expect(error).to.be.instanceOf(StoreUnavailable);
      expect(String(error))
        .to.match(what)
        .and.match(/restore the data directory from a backup/);
    }
  };

  it('reports that it was overwritten, and writes no more until it is opened again', async () => {
    const copy = join(directory, 'copy');
    await copyFile(file(), copy);
    await overwrite(0, (await stat(file())).size);
    await expectSick(/is damaged/);
    await copyFile(copy, file());
    await expectSick(/damaged/);
  });

  it('reports that it was truncated', async () => {
    await truncate(file(), (await stat(file())).size / 2);
    await store.probe(newMoment()).catch(() => {});
    await expectSick(/damaged.*\(it has been cut short\)/);
  });

  it('reports that it was emptied', async () => {
    await truncate(file(), 0);
    await expectSick(/damaged/);
  });

  it('refuses writes while it is deleted or replaced, and continues when it is back', async () => {
    await rename(file(), join(directory, 'away'));
    await expectSick(/was moved, deleted or replaced/);
    await copyFile(join(directory, 'away'), file());
    await expectSick(/was moved, deleted or replaced/);
    await rename(join(directory, 'away'), file());
    await store.probe(newMoment());
    expect(await commit()).to.have.nested.property('[0].lost', false);
  });

  it('refuses writes without its log', async () => {
    await commit();
    await rm(`${file()}-wal`);
    await expectSick(/-wal was moved, deleted or replaced/);
  });

  it('remembers damage that a call has met', async () => {
    await store.close();
    await overwrite(8 * 4096, (await stat(file())).size - 8 * 4096);
    const db = Database.toWrite(file(), systemClock);
    expect(await rejection(db.read(() => db.all('SELECT sum(value) FROM insights')))).to.be.instanceOf(
      StoreUnavailable,
    );
    expect(String(await rejection(db.write(() => undefined))))
      .to.include('malformed')
      .and.include('restore');
    db.close();
  });

  it('is not written any more when a call has met damage, until a start has checked the whole file', async function () {
    if (!CAN_FAIL_READS) this.skip();
    const back = failReads(file());
    expect(String(await rejection(commit()))).to.include('malformed');
    back();
    await expectSick(/damaged, or its disk cannot be read \(.*check the disk and start the service again/);
    await store.close();
    store = await openEmbeddedStore(directory, systemClock);
    await store.probe(newMoment());
    expect(await commit()).to.have.nested.property('[0].lost', false);
  });

  it('is not opened if it was damaged where no call has read it', async () => {
    await store.close();
    const { size } = await stat(file());
    await overwrite(Math.floor(size / 8192) * 4096, 4096);
    const error = await rejection(openEmbeddedStore(directory, systemClock));
    expect(String(error))
      .to.include(directory)
      .and.match(/damaged.*restore the data directory from a backup/);
  });

  it('keeps its locks: another process that opens and closes the file does not remove its log', async () => {
    for (let i = 0; i < 3; i++) {
      await store.probe(newMoment());
      await run(process.execPath, [
        '--input-type=module',
        '-e',
        `import { connect } from ${JSON.stringify(new URL('connection.js', import.meta.url).href)};
         const db = connect(${JSON.stringify(file())}, 1000); db.prepare('SELECT * FROM probes').all(); db.close();`,
      ]);
    }
    expect(await commit()).to.have.nested.property('[0].lost', false);
  });
});
