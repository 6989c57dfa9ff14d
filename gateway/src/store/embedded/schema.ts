import type { Database } from './database.js';

/** The version of this schema. From the first release on, a start migrates the files of earlier versions. */
export const VERSION = 14;

const SCHEMA = `
  CREATE TABLE accounts (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    algorithms TEXT,
    created_at INTEGER NOT NULL
  ) STRICT;

  CREATE TABLE keys (
    id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL,
    user TEXT,
    hash TEXT NOT NULL UNIQUE,
    prefix TEXT NOT NULL,
    last_four TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    last_used_at INTEGER,
    revoked_at INTEGER,
    expires_at INTEGER,
    subscribe_only INTEGER NOT NULL,
    replaced_by TEXT,
    permissions TEXT NOT NULL,
    label TEXT NOT NULL
  ) STRICT;
  CREATE INDEX keys_of_account ON keys (account_id, created_at);
  CREATE INDEX keys_revoked ON keys (revoked_at) WHERE revoked_at IS NOT NULL;
  CREATE INDEX keys_that_subscribe ON keys (expires_at) WHERE subscribe_only = 1;
  CREATE INDEX keys_of_user ON keys (account_id, user, last_used_at) WHERE user IS NOT NULL AND subscribe_only = 0;
  CREATE INDEX keys_shown ON keys (account_id, created_at DESC, id) WHERE subscribe_only = 0;

  CREATE TABLE operators (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    role TEXT NOT NULL,
    password TEXT NOT NULL,
    revision INTEGER NOT NULL,
    created_at INTEGER NOT NULL
  ) STRICT;

  CREATE TABLE logins (
    hash TEXT PRIMARY KEY,
    operator_id TEXT NOT NULL,
    revision INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX logins_by_expiry ON logins (expires_at);

  CREATE TABLE audit (
    n INTEGER PRIMARY KEY AUTOINCREMENT,
    at INTEGER NOT NULL,
    actor TEXT NOT NULL,
    action TEXT NOT NULL,
    account_id TEXT,
    subject TEXT NOT NULL,
    is_sign_in INTEGER AS (action = 'signed in')
  ) STRICT;
  CREATE INDEX audit_by_kind ON audit (is_sign_in, n);

  CREATE TABLE device_models (
    id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    model TEXT NOT NULL
  ) STRICT;
  CREATE INDEX device_models_of_account ON device_models (account_id, created_at);

  CREATE TABLE devices (
    account_id TEXT NOT NULL,
    device_id TEXT NOT NULL,
    device_model_id TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    problem TEXT,
    PRIMARY KEY (account_id, device_id)
  ) STRICT;
  CREATE INDEX devices_of_account ON devices (account_id, created_at);
  CREATE INDEX devices_of_model ON devices (device_model_id);
  CREATE INDEX devices_with_problem ON devices (account_id, problem, device_id) WHERE problem IS NOT NULL;

  -- The number of devices of an account: to count 100,000 for each new one would take too long.
  CREATE TABLE device_counts (
    account_id TEXT PRIMARY KEY,
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
    account_id TEXT NOT NULL,
    user TEXT,
    device_id TEXT NOT NULL,
    device_model_id TEXT NOT NULL,
    status TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    ended_at INTEGER,
    gateway TEXT NOT NULL,
    epoch INTEGER NOT NULL,
    channels TEXT NOT NULL,
    spo2_curve TEXT,
    algorithms TEXT,
    progress TEXT NOT NULL,
    data_start REAL AS (progress ->> '$.firstInstant'),
    data_end REAL AS (progress ->> '$.lastInstant')
  ) STRICT;
  CREATE UNIQUE INDEX one_open_session_a_device ON sessions (account_id, device_id) WHERE status = 'open';
  CREATE INDEX open_sessions_of_gateway ON sessions (gateway) WHERE status = 'open';
  CREATE INDEX sessions_of_account ON sessions (account_id, started_at DESC, id);
  CREATE INDEX sessions_by_status ON sessions (account_id, status, started_at DESC, id);
  CREATE INDEX sessions_of_user ON sessions (account_id, user, started_at DESC, id) WHERE user IS NOT NULL;
  CREATE INDEX sessions_of_device ON sessions (account_id, device_id, started_at DESC, id);
  CREATE INDEX session_numbers_of_device ON sessions (account_id, device_id);
  CREATE INDEX session_numbers_of_user ON sessions (account_id, user) WHERE user IS NOT NULL;

  -- The problems of sessions, beside their rows, which are read and written far more often.
  CREATE TABLE diagnostics (
    session_id TEXT PRIMARY KEY,
    diagnostics TEXT NOT NULL
  ) STRICT;

  CREATE TABLE takeovers (
    gateway TEXT NOT NULL,
    session_id TEXT NOT NULL,
    epoch INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX takeovers_of_gateway ON takeovers (gateway);
  CREATE INDEX takeovers_of_session ON takeovers (session_id);

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
    account_id TEXT NOT NULL,
    route TEXT NOT NULL,
    key TEXT NOT NULL,
    body_hash TEXT NOT NULL,
    at INTEGER NOT NULL,
    status INTEGER,
    body TEXT,
    n INTEGER NOT NULL,
    PRIMARY KEY (account_id, route, key)
  ) STRICT;
  CREATE INDEX idempotency_by_age ON idempotency (at);
  CREATE INDEX idempotency_of_account ON idempotency (account_id, n);

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
  return db.prepare<{ user_version: number }>('PRAGMA user_version').get()?.user_version ?? 0;
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
