import type { InsightMessage, NoticeMessage } from '../generated/types.gen.js';
import { type Form, hasForm } from '../json.js';
import { LATEST_MS } from '../limits.js';

/** The types that this version knows; clients ignore types that they do not know. */
export type InsightType = NonNullable<NoticeMessage['insight']>;

/** Class of the signal's quality, from its `confidence`. */
export type SqiClass = InsightMessage['sqi_class'];

/** An insight as a live subscription receives it. */
export interface LiveInsight extends Readonly<Omit<InsightMessage, 'type' | 'ts'>> {
  /** Type of the reading. */
  readonly type: InsightType;
  /**
   * Publish time, ms since the epoch: later than the measurement, by a day in a back-fill. The stored form has the time of
   * the data: `insights.list({ type, device_id, since: ts, until: ts + 1 })`, the row with this `session_id`.
   */
  readonly ts: number;
}

/** The types that this version delivers. */
export const INSIGHT_TYPES = ['hr', 'spo2', 'rr', 'hrv', 'rhythm'] as const satisfies readonly InsightType[];
type None<Missing extends never> = Missing;
/** The compiler reports a type of the service that is missing above. */
export type Unlisted = None<Exclude<InsightType, (typeof INSIGHT_TYPES)[number]>>;

/** The classes of quality, the worst first. */
export const SQI_CLASSES: readonly SqiClass[] = ['unfit', 'acceptable', 'excellent'];

/** Whether this version knows a type of insights. */
export function isInsightType(type: unknown): boolean {
  return INSIGHT_TYPES.includes(type as InsightType);
}

/** A live insight, of a known type. */
const INSIGHT = {
  type: isInsightType,
  value: 0,
  unit: '',
  ts: isTime,
  session_id: '',
  device_id: '',
  confidence: 0,
  sqi_class: '',
} as const satisfies Record<keyof LiveInsight, Form>;

/** Whether a message is an insight of a known type, with a possible time: an impossible one cannot be put in order. */
export function isLiveInsight(message: unknown): message is LiveInsight {
  return hasForm(message, INSIGHT);
}

/** Whether a time is one that the service can have published at. */
export function isTime(ts: unknown): boolean {
  return typeof ts === 'number' && ts >= 0 && ts < LATEST_MS;
}

/** The live form of a stored insight: the same insight, with exactly the fields of a live one. */
export function liveForm(insight: LiveInsight): LiveInsight {
  const names = Object.keys(INSIGHT) as (keyof LiveInsight)[];
  return Object.fromEntries(names.map((name) => [name, insight[name]])) as unknown as LiveInsight;
}
