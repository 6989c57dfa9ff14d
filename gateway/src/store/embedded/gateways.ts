import type { GatewayStore } from '../store.js';
import type { Database } from './database.js';
import type { Calls } from './kinds.js';
import { type SessionRow, sessionOf } from './sessions.js';

/** The heartbeats of gateways, and the sessions of gateways that are no longer alive. */
export function embeddedGateways(db: Database): Calls<GatewayStore> {
  const beat = db.prepare(
    'INSERT INTO gateways (id, beat) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET beat = excluded.beat',
  );
  const forget = db.prepare('DELETE FROM gateways WHERE beat < ?');
  const beats = db.prepare<{ id: string; beat: number }>('SELECT id, beat FROM gateways');
  const taken = db.prepare<{ n: number; id: string; epoch: number }>(
    'SELECT rowid AS n, sessionId AS id, epoch FROM takeovers WHERE gateway = ? ORDER BY rowid',
  );
  const told = db.prepare('DELETE FROM takeovers WHERE gateway = ? AND rowid <= ?');
  const others = db.prepare<SessionRow>(
    `SELECT * FROM sessions WHERE status = 'open' AND gateway NOT IN (SELECT value FROM json_each(?))
       ORDER BY startedAt`,
  );
  return {
    beat: (gateway, at) => void beat.run(gateway, at),
    beats: () => new Map(beats.all().map((row) => [row.id, row.beat])),
    serverTime: () => null,
    forgetGateways: (before) => void forget.run(before),
    takenSessions: (gateway) => {
      const rows = taken.all(gateway);
      const last = rows.at(-1);
      if (last) told.run(gateway, last.n);
      return rows.map(({ id, epoch }) => ({ id, epoch }));
    },
    openSessionsOfOthers: (gateways) => others.all(JSON.stringify(gateways)).map(sessionOf),
  };
}
