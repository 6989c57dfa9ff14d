import { INSIGHT_TYPES, type InsightType, type StoredInsight, sqiClass, UNITS } from '../../insight.js';
import { StoreRefused } from '../store.js';
import type { Database } from './database.js';

/** The numbers that stand for the types. Never change one: files have them. */
const NUMBERS: Readonly<Record<InsightType, number>> = { hr: 0, spo2: 1, rr: 2, hrv: 3, rhythm: 4 };
const TYPES = INSIGHT_TYPES.toSorted((a, b) => NUMBERS[a] - NUMBERS[b]);

/** The number of a type. */
export function numberOf(type: InsightType): number {
  return NUMBERS[type];
}

/** The columns of an insight, without its session's. */
export const COLUMNS = 'i.session, i.type, i.ts, actual_end, value, confidence, coverage, algorithm, sdnn, pnn50';

/** The values of `COLUMNS`. */
export type InsightValues = readonly [
  ...[session: number, type: number, ts: number, actual_end: number],
  ...[value: number, confidence: number, coverage: number, algorithm: number],
  ...[sdnn: number | null, pnn50: number | null],
];

/** An insight, and the number that orders it among those of the same times. */
export interface Located {
  readonly insight: StoredInsight;
  readonly id: number;
}

/** The session and type that the number of an insight holds. */
export function placeOfId(id: number): [session: number, type: number] {
  return [Math.floor(id / 10), id % 10];
}

/** Makes insights of rows; call it within a read. An algorithm's row never changes. */
export function insightReader(db: Database) {
  const known = new Map<number, Algorithm>();
  const algorithmOf = (n: number): Algorithm => {
    const algorithm = known.get(n) ?? db.get<Algorithm>('SELECT name, window_ms FROM algorithms WHERE n = ?', n);
    if (!algorithm) throw new Error(`insights refer to algorithm ${n}, which the store does not have`);
    known.set(n, algorithm);
    return algorithm;
  };
  return (row: InsightValues, session_id: string, device_id: string): Located => {
    const [session, number, ts, actual_end, value, thousandths, coverage, n, sdnn, pnn50] = row;
    const type = TYPES[number] ?? 'hr';
    const { name, window_ms } = algorithmOf(n);
    const confidence = thousandths / 1000;
    const insight = {
      type,
      value: value / 1000,
      unit: UNITS[type],
      ts,
      session_id,
      device_id,
      confidence,
      sqi_class: sqiClass(confidence),
      actual_start: actual_end - window_ms,
      actual_end,
      coverage,
      e2e_latency_ms: ts - actual_end,
      algorithm: name,
      ...(sdnn !== null && pnn50 !== null && { sdnn: sdnn / 1000, pnn50: pnn50 / 1000 }),
    };
    return { insight, id: 10 * session + number };
  };
}

interface Algorithm {
  readonly name: string;
  readonly window_ms: number;
}

/**
 * Adds an insight unless the session has one of its type that is as new; call it within a write. Returns whether it was
 * added. Throws `StoreRefused` if a number has more than three decimals.
 */
export function insightWriter(db: Database) {
  const insert = `INSERT INTO insights
      (session, type, ts, account, actual_end, value, confidence, coverage, algorithm, sdnn, pnn50)
    SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11 WHERE NOT EXISTS (
      SELECT 1 FROM (SELECT ts, actual_end FROM insights WHERE session = ?1 AND type = ?2 ORDER BY ts DESC LIMIT 1)
        WHERE ts >= ?3 OR actual_end >= ?5)`;
  const algorithmOf = (name: string, windowMs: number): number => {
    const find = 'SELECT n FROM algorithms WHERE name = ? AND window_ms = ?';
    const found = db.get<{ n: number }>(find, name, windowMs);
    if (found) return found.n;
    db.run('INSERT INTO algorithms (name, window_ms) VALUES (?, ?)', name, windowMs);
    return algorithmOf(name, windowMs);
  };
  return (i: StoredInsight, session: number, account: number): boolean => {
    const [value, confidence] = [thousandths(i.value), thousandths(i.confidence)];
    const algorithm = algorithmOf(i.algorithm, i.actual_end - i.actual_start);
    const beside = [i.sdnn, i.pnn50].map((each) => (each === undefined ? null : thousandths(each)));
    const times = [session, NUMBERS[i.type], i.ts, account, i.actual_end];
    return db.run(insert, ...times, value, confidence, i.coverage, algorithm, ...beside) > 0;
  };
}

function thousandths(value: number): number {
  const count = Math.round(value * 1000);
  if (count / 1000 === value) return count;
  throw new StoreRefused(`the number ${value} of an insight has more than three decimals`);
}
