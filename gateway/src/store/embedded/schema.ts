import type { Database } from './database.js';

/** The version of this schema. From the first release on, a start migrates the files of earlier versions. */
export const VERSION = 16;

/** Columns have the names of the fields of the rows (rows.ts); those in lower case have no field of their own. */
const SCHEMA = `
  CREATE TABLE accounts (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    algorithms TEXT,
    createdAt INTEGER NOT NULL
  ) STRICT;

  CREATE TABLE keys (
    id TEXT PRIMARY KEY,
    accountId TEXT NOT NULL,
    user TEXT,
    hash TEXT NOT NULL UNIQUE,
    prefix TEXT NOT NULL,
    lastFour TEXT NOT NULL,
    createdAt INTEGER NOT NULL,
    lastUsedAt INTEGER,
    revokedAt INTEGER,
    expiresAt INTEGER,
    subscribeOnly TEXT NOT NULL,
    replacedBy TEXT,
    permissions TEXT NOT NULL,
    label TEXT NOT NULL
  ) STRICT;
  CREATE INDEX keys_of_account ON keys (accountId, createdAt);
  CREATE INDEX keys_revoked ON keys (revokedAt) WHERE revokedAt IS NOT NULL;
  CREATE INDEX keys_that_subscribe ON keys (expiresAt) WHERE subscribeOnly = 'true';
  CREATE INDEX keys_of_user ON keys (accountId, user, lastUsedAt) WHERE user IS NOT NULL AND subscribeOnly = 'false';
  CREATE INDEX keys_shown ON keys (accountId, createdAt DESC, id) WHERE subscribeOnly = 'false';

  CREATE TABLE operators (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    role TEXT NOT NULL,
    password TEXT NOT NULL,
    revision INTEGER NOT NULL,
    createdAt INTEGER NOT NULL
  ) STRICT;

  CREATE TABLE logins (
    hash TEXT PRIMARY KEY,
    operatorId TEXT NOT NULL,
    revision INTEGER NOT NULL,
    createdAt INTEGER NOT NULL,
    expiresAt INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX logins_by_expiry ON logins (expiresAt);

  CREATE TABLE audit (
    n INTEGER PRIMARY KEY AUTOINCREMENT,
    at INTEGER NOT NULL,
    actor TEXT NOT NULL,
    action TEXT NOT NULL,
    accountId TEXT,
    subject TEXT NOT NULL,
    kind TEXT NOT NULL
  ) STRICT;
  CREATE INDEX audit_by_kind ON audit (kind, n);

  CREATE TABLE device_models (
    id TEXT PRIMARY KEY,
    accountId TEXT NOT NULL,
    createdAt INTEGER NOT NULL,
    model TEXT NOT NULL
  ) STRICT;
  CREATE INDEX device_models_of_account ON device_models (accountId, createdAt);

  CREATE TABLE devices (
    accountId TEXT NOT NULL,
    deviceId TEXT NOT NULL,
    deviceModelId TEXT NOT NULL,
    createdAt INTEGER NOT NULL,
    problem TEXT,
    PRIMARY KEY (accountId, deviceId)
  ) STRICT;
  CREATE INDEX devices_of_account ON devices (accountId, createdAt);
  CREATE INDEX devices_of_model ON devices (deviceModelId);
  CREATE INDEX devices_with_problem ON devices (accountId, problem, deviceId) WHERE problem IS NOT NULL;

  -- The number of devices of an account: to count 100,000 for each new one would take too long.
  CREATE TABLE device_counts (
    accountId TEXT PRIMARY KEY,
    count INTEGER NOT NULL
  ) STRICT;

  -- A number is given once: insights refer to their session and account by number. An account has the number of its first
  -- session. The four columns after it are the bounds of the session's insights.
  CREATE TABLE sessions (
    n INTEGER PRIMARY KEY AUTOINCREMENT,
    account INTEGER NOT NULL,
    first_ts INTEGER,
    last_ts INTEGER,
    first_end REAL,
    last_end REAL,
    id TEXT NOT NULL UNIQUE,
    accountId TEXT NOT NULL,
    user TEXT,
    deviceId TEXT NOT NULL,
    deviceModelId TEXT NOT NULL,
    status TEXT NOT NULL,
    startedAt INTEGER NOT NULL,
    endedAt INTEGER,
    gateway TEXT NOT NULL,
    epoch INTEGER NOT NULL,
    channels TEXT NOT NULL,
    spo2Curve TEXT,
    algorithms TEXT,
    progress TEXT NOT NULL,
    data_start REAL AS (progress ->> '$.firstInstant'),
    data_end REAL AS (progress ->> '$.lastInstant')
  ) STRICT;
  CREATE UNIQUE INDEX one_open_session_a_device ON sessions (accountId, deviceId) WHERE status = 'open';
  CREATE INDEX open_sessions_of_gateway ON sessions (gateway) WHERE status = 'open';
  CREATE INDEX sessions_of_account ON sessions (accountId, startedAt DESC, id);
  CREATE INDEX sessions_by_status ON sessions (accountId, status, startedAt DESC, id);
  CREATE INDEX sessions_of_user ON sessions (accountId, user, startedAt DESC, id) WHERE user IS NOT NULL;
  CREATE INDEX sessions_of_device ON sessions (accountId, deviceId, startedAt DESC, id);
  CREATE INDEX session_numbers_of_device ON sessions (accountId, deviceId);
  CREATE INDEX session_numbers_of_user ON sessions (accountId, user) WHERE user IS NOT NULL;

  -- The problems of sessions, beside their rows, which are read and written far more often.
  CREATE TABLE diagnostics (
    sessionId TEXT PRIMARY KEY,
    diagnostics TEXT NOT NULL
  ) STRICT;

  CREATE TABLE takeovers (
    gateway TEXT NOT NULL,
    sessionId TEXT NOT NULL,
    epoch INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX takeovers_of_gateway ON takeovers (gateway);
  CREATE INDEX takeovers_of_session ON takeovers (sessionId);

  CREATE TABLE gateways (
    id TEXT PRIMARY KEY,
    beat INTEGER NOT NULL
  ) STRICT;

  -- What follows from other columns is not stored (unit, class, latency, start of the window, device). value, confidence,
  -- sdnn and pnn50 count thousandths, and type is a number (insight-rows.ts).
  CREATE TABLE insights (
    session INTEGER NOT NULL,
    type INTEGER NOT NULL,
    ts INTEGER NOT NULL,
    account INTEGER NOT NULL,
    actual_end REAL NOT NULL,
    value INTEGER NOT NULL,
    confidence INTEGER NOT NULL,
    coverage REAL NOT NULL,
    algorithm INTEGER NOT NULL,
    sdnn INTEGER,
    pnn50 INTEGER,
    PRIMARY KEY (session, type, ts)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX insights_by_time ON insights (account, ts, session, type);
  CREATE INDEX insights_by_data ON insights (account, actual_end, ts, session, type);

  CREATE TABLE algorithms (
    n INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    window_ms REAL NOT NULL,
    UNIQUE (name, window_ms)
  ) STRICT;

  -- A row has the beats of 10 s of data time (beat-pack.ts).
  CREATE TABLE beats (
    session INTEGER NOT NULL,
    start REAL NOT NULL,
    ts INTEGER NOT NULL,
    account INTEGER NOT NULL,
    beats TEXT NOT NULL,
    PRIMARY KEY (session, start)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX beats_by_time ON beats (account, ts);

  -- n is the number of the claim within its account.
  CREATE TABLE idempotency (
    accountId TEXT NOT NULL,
    route TEXT NOT NULL,
    key TEXT NOT NULL,
    bodyHash TEXT NOT NULL,
    at INTEGER NOT NULL,
    response TEXT,
    n INTEGER NOT NULL,
    PRIMARY KEY (accountId, route, key)
  ) STRICT;
  CREATE INDEX idempotency_by_age ON idempotency (at);
  CREATE INDEX idempotency_of_account ON idempotency (accountId, n);

  CREATE TABLE probes (
    id INTEGER PRIMARY KEY,
    at INTEGER NOT NULL
  ) STRICT;
`;

/** Makes the schema in an empty file. Rejects with `OtherSchema`, without changes, if the file has another one. */
export async function makeSchema(db: Database): Promise<void> {
  await db.read(() => db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL'));
  if ((await db.read(() => versionOf(db))) === VERSION) return; // Without a write, so that it can be read while the disk is full.
  await db.write(() => {
    const version = versionOf(db);
    if (version === VERSION) return;
    if (version !== 0) throw new OtherSchema(version);
    db.exec(`${SCHEMA}; PRAGMA user_version = ${VERSION}`);
  });
}

/** Throws `OtherSchema` if a file does not have this schema. */
export function assertSchema(db: Database): void {
  const version = versionOf(db);
  if (version !== VERSION) throw new OtherSchema(version);
}

function versionOf(db: Database): number {
  return db.get<{ user_version: number }>('PRAGMA user_version')?.user_version ?? 0;
}

/** The file has the schema of another version of this program. */
export class OtherSchema extends Error {
  override readonly name = 'OtherSchema';

  constructor(found: number) {
    const has = `schema ${found}; this one has ${VERSION}`;
    if (found === 0) super('the store has no schema yet: start the service, which makes it');
    else if (found > VERSION)
      super(`the data were written by a newer version (${has}): run that version, or choose another data directory`);
    else
      super(
        `the data were written by a version before the first release (${has}), which cannot be read: run that version, ` +
          'or move the data directory away and start with an empty one',
      );
  }
}
