import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '@device-insights/fanout/platform/clock';
import { expect } from 'chai';
import { type InsightQuery, type SessionQuery, StoreUnavailable } from '../store.js';
import { newMoment, rejection, sampleAccount } from '../suite/samples.js';
import { keyStatement, userStatement } from './accounts.js';
import { Database, type Statement } from './database.js';
import { deviceStatement, MODELS_PAGE } from './devices.js';
import { openEmbeddedStore } from './embedded.js';
import { insightPage, sliceEnd, spanSlice, spanSliceEnd } from './insight-search.js';
import { BLOCKS_AFTER, SUMMARY } from './insights.js';
import { RUNS } from './runs.js';
import { makeSchema, OtherSchema } from './schema.js';
import { sessionPage, streamingStatement } from './sessions.js';

describe('the schema of the embedded store', () => {
  let directory: string;
  const file = () => join(directory, 'device-insights.db');

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'device-insights-'));
  });

  afterEach(() => rm(directory, { recursive: true, maxRetries: 10 }));

  it('is created once, even if many processes open a new store at the same time', async () => {
    const stores = await Promise.all([1, 2, 3, 4].map(() => openEmbeddedStore(directory, systemClock)));
    const account = sampleAccount();
    await stores[0]?.createAccount(account);
    for (const store of stores) expect(await store.account(account.id)).to.deep.equal(account);
    await Promise.all(stores.map((store) => store.close()));
  });

  it('is refused and left unchanged if another version created it, with what to do', async () => {
    await (await openEmbeddedStore(directory, systemClock)).close();
    const db = Database.toWrite(file(), systemClock);
    for (const [version, what] of [
      [99, /newer version \(schema 99; this one has \d+\): run that version/],
      [12, /before the first release \(schema 12; .*: run that version, or move the data directory away/],
    ] as const) {
      db.exec(`PRAGMA user_version = ${version}`);
      const error = await rejection(openEmbeddedStore(directory, systemClock));
      expect(error).to.be.instanceOf(OtherSchema);
      expect(String(error)).to.match(what);
      expect(db.get('PRAGMA user_version')).to.include({ user_version: version });
    }
    db.close();
  });

  it('is refused if the directory cannot be created, with the name of the setting', async () => {
    await writeFile(file(), '');
    const error = await rejection(openEmbeddedStore(file(), systemClock));
    expect(String(error)).to.include(file()).and.include('DATA_DIR');
    const nowhere = await rejection(openEmbeddedStore('/proc/missing/data', systemClock));
    expect(String(nowhere)).to.match(/DATA_DIR.*'\/proc(\/missing)?'$/);
  });

  it('is refused if its file cannot be made, with the cause and the name of the setting', async () => {
    await symlink(join(directory, 'missing', 'file'), file());
    const error = await rejection(openEmbeddedStore(directory, systemClock));
    expect(String(error)).to.include(file()).and.include('DATA_DIR').and.include('ENOENT');
  });

  it('is refused if its log cannot be used, with the name of the log', async () => {
    await symlink(`${file()}-wal`, `${file()}-wal`);
    const error = await rejection(openEmbeddedStore(directory, systemClock));
    expect(String(error)).to.include(`'${file()}-wal'`).and.include('DATA_DIR');
  });

  it('is refused if SQLite cannot open its log, with its name and the cause', async () => {
    await mkdir(`${file()}-wal`);
    const error = await rejection(openEmbeddedStore(directory, systemClock));
    expect(error).to.be.instanceOf(StoreUnavailable);
    expect(String(error)).to.include(directory).and.include('cannot be opened (the embedded store failed: ');
  });

  it('is in files that only their owner may read, whatever the directory allows', async () => {
    const store = await openEmbeddedStore(directory, systemClock);
    await store.createAccount(sampleAccount());
    const modes = (await readdir(directory)).map(async (name) => (await stat(join(directory, name))).mode & 0o777);
    expect(await Promise.all(modes)).to.deep.equal([0o600, 0o600, 0o600]);
    await store.close();
  });

  it('is refused in a file of another kind', async () => {
    await writeFile(file(), 'not a database '.repeat(100));
    const error = await rejection(openEmbeddedStore(directory, systemClock));
    expect(String(error))
      .to.include(directory)
      .and.match(/file is not a database.*check the disk .*restore/);
    expect(await readFile(file(), 'utf8')).to.match(/^not a database/);
  });

  it('has an index for every list: no query reads a table whole or sorts it', async () => {
    const db = Database.toWrite(file(), systemClock);
    await makeSchema(db);
    const plan = ({ sql, values }: Statement) =>
      db
        .all<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`, ...values)
        .map((step) => step.detail)
        .join('; ');
    const listed = [
      ...[null, 'ann'].map((user) => keyStatement({ accountId: 'a', user, limit: 9, cursor: null })),
      userStatement({ accountId: 'a', limit: 9, cursor: null }),
      ...[null, 'b'].flatMap((prefix) =>
        [true, false].map((withProblem) =>
          deviceStatement({ accountId: 'a', prefix, limit: 9, cursor: null, withProblem }),
        ),
      ),
      ...[null, 'b'].map((prefix) => streamingStatement({ accountId: 'a', prefix, limit: 9 })),
    ];
    for (const page of [...sessionQueries().map(sessionPage), ...insightQueries().map(pageAt), ...listed])
      expect(plan(page), page.sql).to.match(/^SEARCH .* USING (COVERING )?INDEX (?!.*(SCAN|TEMP B-TREE))/);
    for (const query of sessionQueries())
      if (query.status === 'open') expect(plan(sessionPage(query))).to.include('sessions_by_status');
    for (const sql of [RUNS.forward, RUNS.backward])
      expect(plan({ sql, values: [1, 0, 1, 9, 9] })).to.match(
        /^SEARCH i USING PRIMARY KEY \(session=\? AND type=\? AND ts>/,
      );
    expect(plan({ sql: RUNS.from, values: [1, 0, 1] })).to.match(
      /USING PRIMARY KEY \(session=\? AND type=\? AND ts>\?\)$/,
    );
    expect(plan({ sql: SUMMARY, values: [1, 0, 1] })).to.match(
      /SEARCH insights USING PRIMARY KEY .*TEMP B-TREE FOR GROUP/,
    );
    expect(plan({ sql: BLOCKS_AFTER, values: [1, 0] })).to.match(/^SEARCH beats USING PRIMARY KEY (?!.*TEMP)/);
    expect(plan({ sql: MODELS_PAGE, values: ['a', 1, 1, 9] })).to.match(/^SEARCH .*device_models_of_account(?!.*TEMP)/);
    for (const query of insightQueries()) {
      expect(plan(sliceEnd(query, null))).to.match(/^SEARCH i USING COVERING INDEX (?!.*TEMP)/);
      for (const scope of [{ deviceId: 'band' }, { user: 'ann' }]) {
        const own = { ...query, ...scope };
        expect(plan(spanSliceEnd(own, 5))).to.match(
          /^SEARCH sessions USING COVERING INDEX session_numbers_of_(?!.*TEMP)/,
        );
        expect(plan(spanSlice(own, 5, 9))).to.match(/^SEARCH sessions USING INDEX session_numbers_of_(?!.*TEMP)/);
      }
    }
    db.close();
  });

  it('begins each page at its cursor, not at the bounds of the whole list', async () => {
    const db = Database.toWrite(file(), systemClock);
    await makeSchema(db);
    /** The value by which a statement finds its first row: the part after the account of the index key that it seeks. */
    const begin = ({ sql, values }: Statement) => {
      const program = db.all<Operation>(`EXPLAIN ${sql}`, ...values);
      const seek = program.findLast(({ opcode }) => /^Seek[GL][ET]$/.test(opcode));
      const register = (seek?.p3 ?? 0) + 1;
      return values[(program.find(({ opcode, p2 }) => opcode === 'Variable' && p2 === register)?.p1 ?? 0) - 1];
    };
    const query = { ...SCOPE, user: null, type: null, cursor: null };
    const part = { after: [1, 7, 0], upTo: null, most: 10 };
    expect(begin(insightPage({ ...query, since: -5, until: 5 }, part))).to.equal(1);
    expect(begin(insightPage({ ...query, since: null, until: 5 }, part))).to.equal(1);
    const sessions = { ...SCOPE, user: null, status: null, since: -5, until: 5 };
    expect(begin(sessionPage({ ...sessions, cursor: cursor('sessions', randomUUID()) }))).to.equal(1);
    db.close();
  });
});

/** A step of a compiled statement (sqlite.org/opcode.html). */
interface Operation {
  readonly opcode: string;
  readonly p1: number;
  readonly p2: number;
  readonly p3: number;
  readonly p4: string | null;
}

const SCOPE = { accountId: 'a', limit: 10 };
const cursor = (kind: string, id: string) => Buffer.from(JSON.stringify([kind, 1, id])).toString('base64url');

function sessionQueries(): SessionQuery[] {
  const at = cursor('sessions', '00000000-0000-4000-8000-000000000000');
  const users = ['ann', null].map((user) => ({ ...SCOPE, user }));
  const statuses = users.flatMap((scope) =>
    (['open', 'closed', null] as const).map((status) => ({ ...scope, status })),
  );
  const times = [{}, { since: 1, until: 2 }];
  const narrowed = [
    ...statuses.flatMap((query) => times.map((time) => ({ ...query, ...time }))),
    ...times.map((time) => ({ ...SCOPE, user: null, status: null, deviceId: 'band', ...time })),
  ];
  return narrowed.flatMap((query) => [null, at].map((cursor) => ({ ...query, cursor })));
}

function insightQueries(): InsightQuery[] {
  const query = { ...SCOPE, user: null, cursor: null, until: newMoment() };
  const types = (['hr', null] as const).map((type) => ({ ...query, type }));
  const sinces = types.flatMap((each) => [1, null].map((since) => ({ ...each, since })));
  const byData = sinces.map(({ since, until, ...each }) => ({
    ...{ ...each, since: null, until: null, dataSince: since, dataUntil: until },
  }));
  return [...sinces, ...byData];
}

function pageAt(query: InsightQuery) {
  return insightPage(query, { after: query.dataUntil ? [1, 7, 7, 0] : [1, 7, 0], upTo: null, most: 10 });
}
