import type { Database } from './database.js';

/** One script for each version of the schema, applied in order; `user_version` counts the applied ones. */
export const VERSIONS = [
  `
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
    revoked_at INTEGER
  ) STRICT;
  CREATE INDEX keys_of_account ON keys (account_id, created_at);
  CREATE INDEX keys_revoked ON keys (revoked_at) WHERE revoked_at IS NOT NULL;

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
    PRIMARY KEY (account_id, device_id)
  ) STRICT;
  CREATE INDEX devices_of_account ON devices (account_id, created_at);
  CREATE INDEX devices_of_model ON devices (device_model_id);

  CREATE TABLE sessions (
    id TEXT PRIMARY KEY,
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
    progress TEXT NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX one_open_session_a_device ON sessions (account_id, device_id) WHERE status = 'open';
  CREATE INDEX open_sessions_of_gateway ON sessions (gateway) WHERE status = 'open';
  CREATE INDEX sessions_of_account ON sessions (account_id, started_at DESC, id);
  CREATE INDEX sessions_by_status ON sessions (account_id, status, started_at DESC, id);
  CREATE INDEX sessions_of_user ON sessions (account_id, user, started_at DESC, id) WHERE user IS NOT NULL;

  CREATE TABLE takeovers (
    gateway TEXT NOT NULL,
    at INTEGER NOT NULL,
    session_id TEXT NOT NULL,
    epoch INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX takeovers_of_gateway ON takeovers (gateway, at);
  CREATE INDEX takeovers_by_age ON takeovers (at);

  CREATE TABLE gateways (
    id TEXT PRIMARY KEY,
    beat INTEGER NOT NULL
  ) STRICT;

  CREATE TABLE insights (
    id INTEGER PRIMARY KEY,
    session_id TEXT NOT NULL,
    account_id TEXT NOT NULL,
    user TEXT,
    type TEXT NOT NULL,
    value REAL NOT NULL,
    unit TEXT NOT NULL,
    ts INTEGER NOT NULL,
    device_id TEXT NOT NULL,
    confidence REAL NOT NULL,
    sqi_class TEXT NOT NULL,
    actual_start REAL NOT NULL,
    actual_end REAL NOT NULL,
    coverage REAL NOT NULL,
    e2e_latency_ms REAL NOT NULL,
    algorithm TEXT NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX one_insight_a_window ON insights (session_id, actual_end, type);
  CREATE UNIQUE INDEX one_insight_a_moment ON insights (session_id, type, ts);
  CREATE INDEX insights_of_account ON insights (account_id, ts);
  CREATE INDEX insights_of_user ON insights (account_id, user, ts) WHERE user IS NOT NULL;

  CREATE TABLE idempotency (
    account_id TEXT NOT NULL,
    route TEXT NOT NULL,
    key TEXT NOT NULL,
    body_hash TEXT NOT NULL,
    at INTEGER NOT NULL,
    status INTEGER,
    body TEXT,
    PRIMARY KEY (account_id, route, key)
  ) STRICT;
  CREATE INDEX idempotency_by_age ON idempotency (at);

  CREATE TABLE probes (
    id INTEGER PRIMARY KEY,
    at INTEGER NOT NULL
  ) STRICT;
  `,
  'ALTER TABLE keys ADD COLUMN expires_at INTEGER',
  // The number of the claim within its account. Existing rows count as one: they are deleted within a day.
  `
  ALTER TABLE idempotency ADD COLUMN n INTEGER NOT NULL DEFAULT 0;
  CREATE INDEX idempotency_of_account ON idempotency (account_id, n);
  `,
  `
  DROP INDEX takeovers_by_age;
  DROP INDEX takeovers_of_gateway;
  ALTER TABLE takeovers DROP COLUMN at;
  CREATE INDEX takeovers_of_gateway ON takeovers (gateway);
  CREATE INDEX takeovers_of_session ON takeovers (session_id);
  `,
  // The dashboard.
  `
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
    subject TEXT NOT NULL
  ) STRICT;

  ALTER TABLE keys ADD COLUMN subscribe_only INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE keys ADD COLUMN replaced_by TEXT;
  CREATE INDEX keys_replaced ON keys (expires_at) WHERE replaced_by IS NOT NULL AND revoked_at IS NULL;
  CREATE INDEX keys_that_subscribe ON keys (expires_at) WHERE subscribe_only = 1;
  CREATE INDEX keys_of_user ON keys (account_id, user, last_used_at) WHERE user IS NOT NULL AND subscribe_only = 0;
  CREATE INDEX keys_shown ON keys (account_id, created_at DESC, id) WHERE subscribe_only = 0;
  CREATE INDEX sessions_of_device ON sessions (account_id, device_id, started_at DESC, id);
  `,
  'CREATE INDEX insights_of_device ON insights (account_id, device_id, ts)',
  // An insight refers to its session and device by number: the size of its index entries is most of the cost of a write.
  // A device has the number of its first session; so a number can be given again only when nothing refers to it.
  `
  ALTER TABLE sessions ADD COLUMN n INTEGER;
  ALTER TABLE sessions ADD COLUMN device INTEGER;
  UPDATE sessions SET n = rowid;
  UPDATE sessions SET device = first.n
    FROM (SELECT account_id, device_id, min(n) AS n FROM sessions GROUP BY account_id, device_id) first
    WHERE first.account_id = sessions.account_id AND first.device_id = sessions.device_id;
  CREATE UNIQUE INDEX sessions_by_number ON sessions (n);

  CREATE TABLE numbered (
    id INTEGER PRIMARY KEY,
    session INTEGER NOT NULL,
    device INTEGER NOT NULL,
    account_id TEXT NOT NULL,
    user TEXT,
    type TEXT NOT NULL,
    value REAL NOT NULL,
    unit TEXT NOT NULL,
    ts INTEGER NOT NULL,
    confidence REAL NOT NULL,
    sqi_class TEXT NOT NULL,
    actual_start REAL NOT NULL,
    actual_end REAL NOT NULL,
    coverage REAL NOT NULL,
    e2e_latency_ms REAL NOT NULL,
    algorithm TEXT NOT NULL
  ) STRICT;
  INSERT INTO numbered
    SELECT i.id, s.n, s.device, i.account_id, i.user, i.type, i.value, i.unit, i.ts, i.confidence, i.sqi_class,
      i.actual_start, i.actual_end, i.coverage, i.e2e_latency_ms, i.algorithm
    FROM insights i JOIN sessions s ON s.id = i.session_id ORDER BY i.id;
  DROP TABLE insights;
  ALTER TABLE numbered RENAME TO insights;
  CREATE UNIQUE INDEX one_insight_a_window ON insights (session, actual_end, type);
  CREATE UNIQUE INDEX one_insight_a_moment ON insights (session, type, ts);
  CREATE INDEX insights_of_account ON insights (account_id, ts);
  CREATE INDEX insights_of_user ON insights (account_id, user, ts) WHERE user IS NOT NULL;
  CREATE INDEX insights_of_device ON insights (device, ts);
  `,
  // The number of devices of an account: to count 100,000 for each new one would take too long.
  `
  CREATE TABLE device_counts (
    account_id TEXT PRIMARY KEY,
    count INTEGER NOT NULL
  ) STRICT;
  INSERT INTO device_counts SELECT account_id, count(*) FROM devices GROUP BY account_id;
  `,
  `
  ALTER TABLE audit ADD COLUMN is_sign_in INTEGER AS (action = 'signed in');
  CREATE INDEX audit_by_kind ON audit (is_sign_in, n);
  `,
  // Keys from before permissions keep all of them.
  `
  ALTER TABLE keys ADD COLUMN permissions TEXT NOT NULL DEFAULT 'read,stream,manage';
  ALTER TABLE keys ADD COLUMN label TEXT NOT NULL DEFAULT '';
  `,
  // Data time, by which sessions and insights are found, whenever they were sent.
  `
  UPDATE sessions SET progress = json_set(progress, '$.lastInstant', last.at)
    FROM (SELECT session, max(actual_end) AS at FROM insights GROUP BY session) last WHERE last.session = sessions.n;
  ALTER TABLE sessions ADD COLUMN data_start REAL AS (progress ->> '$.firstInstant');
  ALTER TABLE sessions ADD COLUMN data_end REAL AS (progress ->> '$.lastInstant');
  CREATE INDEX insights_by_data ON insights (account_id, actual_end, ts);
  CREATE INDEX insights_of_user_by_data ON insights (account_id, user, actual_end, ts) WHERE user IS NOT NULL;
  CREATE INDEX insights_of_device_by_data ON insights (device, actual_end, ts);
  `,
  // The problems of sessions, beside their rows, which are read and written far more often.
  `
  CREATE TABLE diagnostics (
    session_id TEXT PRIMARY KEY,
    diagnostics TEXT NOT NULL
  ) STRICT;
  ALTER TABLE devices ADD COLUMN problem TEXT;
  CREATE INDEX devices_with_problem ON devices (account_id, problem, device_id) WHERE problem IS NOT NULL;
  `,
];

/** Updates a file to this schema. Rejects, without changes, if a newer program has written the file. */
export async function migrate(db: Database): Promise<void> {
  await db.read(() => db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL'));
  const isCurrent = await db.read(() => versionOf(db) === VERSIONS.length);
  if (isCurrent) return; // Without a write, so that the data can be read while the disk is full.
  await db.write(() => {
    const version = versionOf(db);
    if (version > VERSIONS.length) throw new NewerSchema(version);
    for (const script of VERSIONS.slice(version)) db.exec(script);
    db.exec(`PRAGMA user_version = ${VERSIONS.length}`);
  });
}

function versionOf(db: Database): number {
  return db.prepare<{ user_version: number }>('PRAGMA user_version').get()?.user_version ?? 0;
}

/** The file was written by a newer program. */
export class NewerSchema extends Error {
  override readonly name = 'NewerSchema';

  constructor(found: number) {
    super(
      `the data were written by a newer version (schema ${found}; this one knows up to ${VERSIONS.length}): ` +
        'run that version, or choose another data directory',
    );
  }
}
