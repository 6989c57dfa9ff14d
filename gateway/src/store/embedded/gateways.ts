import type { Store } from '../store.js';
import type { Database } from './database.js';
import { type SessionRow, sessionOf } from './sessions.js';

type Gateways = Pick<Store, 'beat' | 'gatewaysSince' | 'sessionsTakenFrom' | 'orphanedSessions'>;

/** A gateway that has been silent for this long is forgotten. */
const SILENT_MS = 86_400_000;

/** Which gateways live, and what became of the sessions of those that do not. */
export function embeddedGateways(db: Database): Gateways {
  const beat = db.prepare(
    'INSERT INTO gateways (id, beat) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET beat = max(beat, excluded.beat)',
  );
  const forget = db.prepare('DELETE FROM gateways WHERE beat < ?');
  const since = db.prepare<{ id: string }>('SELECT id FROM gateways WHERE beat >= ? ORDER BY id');
  const taken = db.prepare<{ id: string; epoch: number }>(
    'SELECT session_id AS id, epoch FROM takeovers WHERE gateway = ? AND at >= ? ORDER BY at',
  );
  const orphans = db.prepare<SessionRow>(
    `SELECT * FROM sessions WHERE status = 'open'
       AND gateway NOT IN (SELECT id FROM gateways WHERE beat >= ?) ORDER BY started_at`,
  );
  return {
    beat: (gateway, at) =>
      db.write(() => {
        beat.run(gateway, at);
        forget.run(at - SILENT_MS);
      }),
    gatewaysSince: (at) => db.read(() => since.all(at).map((row) => row.id)),
    sessionsTakenFrom: (gateway, at) => db.read(() => taken.all(gateway, at).map(({ id, epoch }) => ({ id, epoch }))),
    orphanedSessions: (beatBefore) => db.read(() => orphans.all(beatBefore).map(sessionOf)),
  };
}
