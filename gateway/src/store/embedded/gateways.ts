import type { GatewayStore } from '../store.js';
import type { Database } from './database.js';
import type { Calls } from './kinds.js';
import { type SessionRow, sessionOf } from './sessions.js';

/** The heartbeats of gateways, and the sessions of gateways that are no longer alive. */
export function embeddedGateways(db: Database): Calls<GatewayStore> {
  return {
    beat: (gateway, at) => void db.run('INSERT OR REPLACE INTO gateways (id, beat) VALUES (?, ?)', gateway, at),
    beats: () => {
      const rows = db.all<{ id: string; beat: number }>('SELECT id, beat FROM gateways');
      return new Map(rows.map(({ id, beat }) => [id, beat]));
    },
    serverTime: () => null,
    forgetGateways: (before) => void db.run('DELETE FROM gateways WHERE beat < ?', before),
    takenSessions: (gateway) => {
      const told = 'DELETE FROM takeovers WHERE gateway = ? RETURNING rowid AS n, sessionId AS id, epoch';
      const rows = db.all<{ n: number; id: string; epoch: number }>(told, gateway);
      return rows.toSorted((a, b) => a.n - b.n).map(({ id, epoch }) => ({ id, epoch }));
    },
    openSessionsOfOthers: (gateways) => {
      const others = 'gateway NOT IN (SELECT value FROM json_each(?))';
      const sql = `SELECT * FROM sessions WHERE status = 'open' AND ${others} ORDER BY startedAt`;
      return db.all<SessionRow>(sql, JSON.stringify(gateways)).map(sessionOf);
    },
  };
}
