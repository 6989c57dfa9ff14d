import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { systemClock } from '../../clock.js';
import type { InsightQuery, SessionQuery } from '../store.js';
import { newMoment, rejection, sampleAccount, sampleKey } from '../suite/samples.js';
import { keyStatement, userStatement } from './accounts.js';
import { Database } from './database.js';
import { deviceStatement, MODELS_PAGE } from './devices.js';
import { openEmbeddedStore } from './embedded.js';
import { insightPage, OF_SESSION } from './insights.js';
import { migrate, NewerSchema, VERSIONS } from './schema.js';
import { sessionPage } from './sessions.js';

describe('the schema of the embedded store', () => {
  let directory: string;
  const file = () => join(directory, 'device-insights.db');

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'device-insights-'));
  });

  afterEach(() => rm(directory, { recursive: true, maxRetries: 10 }));

  it('is made once, however many open a new store at the same moment', async () => {
    const stores = await Promise.all([1, 2, 3, 4].map(() => openEmbeddedStore(directory, systemClock)));
    const account = sampleAccount();
    await stores[0]?.createAccount(account);
    for (const store of stores) expect(await store.account(account.id)).to.deep.equal(account);
    await Promise.all(stores.map((store) => store.close()));
  });

  it('keeps the keys of a file from before there was an expiry: they never expire', async () => {
    const key = sampleKey();
    const db = Database.toWrite(file(), systemClock);
    db.exec(`${VERSIONS[0]}; PRAGMA user_version = 1`);
    db.prepare('INSERT INTO keys VALUES (?, ?, NULL, ?, ?, ?, ?, NULL, NULL)').run(
      ...[key.id, key.accountId, key.hash, key.prefix, key.lastFour, key.createdAt],
    );
    db.close();
    const store = await openEmbeddedStore(directory, systemClock);
    expect(await store.keyByHash(key.hash)).to.deep.equal(key);
    const expiring = sampleKey({ expiresAt: 5 });
    await store.addKey(expiring);
    expect(await store.keyByHash(expiring.hash)).to.deep.equal(expiring);
    await store.close();
  });

  it('is refused, and left alone, when a newer version made it', async () => {
    const store = await openEmbeddedStore(directory, systemClock);
    await store.close();
    const db = Database.toWrite(file(), systemClock);
    db.exec('PRAGMA user_version = 99');
    const error = await rejection(openEmbeddedStore(directory, systemClock));
    expect(error).to.be.instanceOf(NewerSchema);
    expect(String(error)).to.match(/newer version \(schema 99; this one knows up to \d+\)/);
    expect(db.prepare('PRAGMA user_version').get()).to.include({ user_version: 99 });
    db.close();
  });

  it('is not looked for where no directory can be, and the setting is named', async () => {
    await writeFile(file(), '');
    const error = await rejection(openEmbeddedStore(file(), systemClock));
    expect(String(error)).to.include(file()).and.include('DATA_DIR');
  });

  it('is looked for in vain in a file that is something else', async () => {
    await writeFile(file(), 'not a database '.repeat(100));
    const error = await rejection(openEmbeddedStore(directory, systemClock));
    expect(String(error)).to.include(directory).and.include('cannot be opened');
    expect(await readFile(file(), 'utf8')).to.match(/^not a database/);
  });

  it('has an index for every list: no query reads a table whole or sorts it', async () => {
    const db = Database.toWrite(file(), systemClock);
    await migrate(db);
    const plan = ({ sql, values }: { sql: string; values: (string | number | null)[] }) =>
      db
        .prepare<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`)
        .all(...values)
        .map((step) => step.detail)
        .join('; ');
    const listed = [
      ...[null, 'ann'].map((user) => keyStatement({ accountId: 'a', user, limit: 9, cursor: null })),
      userStatement({ accountId: 'a', limit: 9, cursor: null }),
      ...[null, 'b'].map((prefix) => deviceStatement({ accountId: 'a', prefix, limit: 9, cursor: null })),
    ];
    for (const page of [...sessionQueries().map(sessionPage), ...insightQueries().map(insightPage), ...listed])
      expect(plan(page), page.sql).to.match(/^SEARCH .* USING (COVERING )?INDEX (?!.*(SCAN|TEMP B-TREE))/);
    // Only what has the same end of window is sorted.
    for (const [sql, values] of [
      [OF_SESSION.first, ['a', 1, 9]],
      [OF_SESSION.after, ['a', 1, 1, 1, 9]],
    ] as const)
      expect(plan({ sql, values: [...values] })).to.match(/one_insight_a_window .*TEMP B-TREE FOR RIGHT PART/);
    expect(plan({ sql: MODELS_PAGE, values: ['a', 1, 1, 9] })).to.match(/^SEARCH .*device_models_of_account(?!.*TEMP)/);
    expect(plan(insightPage({ ...insightQueries()[0], user: 'ann' } as InsightQuery))).to.include('insights_of_user');
    for (const query of insightQueries().filter(({ user }) => user === null))
      expect(plan(insightPage({ ...query, deviceId: 'band' }))).to.match(/insights_of_device (?!.*TEMP)/);
    db.close();
  });
});

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
  const at = cursor('insights', '7');
  const users = ['ann', null].map((user) => ({ ...SCOPE, user, until: newMoment() }));
  const types = users.flatMap((scope) => (['hr', null] as const).map((type) => ({ ...scope, type })));
  const sinces = types.flatMap((query) => [1, null].map((since) => ({ ...query, since })));
  return sinces.flatMap((query) => [null, at].map((cursor) => ({ ...query, cursor })));
}
