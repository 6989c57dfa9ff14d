import { type Connection, gapsOf, type Insight, identity } from '../app.js';
import type { StoredInsight } from '../stream.js';
import type { Crowd } from './crowd.js';

/** hr is computed at the fourth second of data, and at each one after it. */
const FIRST_READING_S = 4;

/** Compares the insights received, the insights stored, and the data accepted. */
export interface Tally {
  readonly stored: number;
  /** Received by a subscriber, but not in the store. */
  readonly liveNotStored: number;
  /** In the store, but not received by a subscriber, without a close that would have told it so. */
  readonly storedNotSeen: number;
  /** Received twice by one subscriber, or stored twice for one window. */
  readonly duplicates: number;
  /** Seconds of data that were acknowledged. */
  readonly acknowledgedSeconds: number;
  /** Of these, the seconds without the reading that should end there. */
  readonly notAnalysedSeconds: number;
}

export function tally(crowd: Crowd, stored: readonly StoredInsight[], clockSteps: boolean): Tally {
  const all = new Set(stored.map(identity));
  const missed = crowd.apps.map(({ connections }) => unseen(connections, stored, clockSteps));
  const missing = crowd.wearers.map(({ deviceId, acknowledgedSeconds }) => {
    const own = stored.filter(({ device_id, type }) => device_id === deviceId && type === 'hr');
    const windows = new Set(own.map(({ actual_end }) => actual_end));
    return Math.max(0, acknowledgedSeconds - (FIRST_READING_S - 1) - windows.size);
  });
  return {
    stored: stored.length,
    liveNotStored: new Set(crowd.insights.map(identity).filter((id) => !all.has(id))).size,
    storedNotSeen: sum(missed),
    duplicates: sum(crowd.apps.map(({ insights }) => twice(insights.map(identity)))) + twice(stored.map(windowOf)),
    acknowledgedSeconds: sum(crowd.wearers.map((wearer) => wearer.acknowledgedSeconds)),
    notAnalysedSeconds: sum(missing),
  };
}

/** Number of closes by code. */
export function counts(codes: readonly number[]): Record<string, number> {
  const count: Record<string, number> = {};
  for (const code of codes) count[code] = (count[code] ?? 0) + 1;
  return count;
}

/**
 * Stored insights that the connections of one subscriber should have received but did not. If the server's clock was
 * set, its stamps cannot be compared with the time of the subscription: then the first connection, older than all data,
 * should have received everything, and a later one everything after the first insight that it received.
 */
export function unseen(connections: readonly Connection[], stored: readonly Insight[], clockSteps: boolean): number {
  const from = (connection: Connection, n: number) => {
    if (!clockSteps) return connection.subscribedAt;
    return n === 0 ? Number.NEGATIVE_INFINITY : Math.min(...connection.insights.map(({ ts }) => ts));
  };
  return sum(connections.map((each, n) => gapsOf({ ...each, subscribedAt: from(each, n) }, stored).length));
}

const windowOf = ({ session_id, type, actual_end }: StoredInsight) => `${session_id} ${type} ${actual_end}`;
const twice = (ids: readonly string[]) => ids.length - new Set(ids).size;
const sum = (numbers: readonly number[]) => numbers.reduce((a, b) => a + b, 0);
