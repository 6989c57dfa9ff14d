import type { LiveInsight, StoredInsight } from '@device-insights/contract/insight';
import type { InsightType, SqiClass } from '@device-insights/contract/insight-types';

export type { LiveInsight, StoredInsight } from '@device-insights/contract/insight';
export {
  INSIGHT_TYPES,
  type InsightType,
  SQI_CLASSES,
  type SqiClass,
  UNITS,
} from '@device-insights/contract/insight-types';

/** The types that need a minute at rest: that a session has none of them is no fault. */
export const AT_REST: ReadonlySet<string> = new Set(['hrv', 'rhythm'] satisfies InsightType[]);

/** A reading before publication: all fields except those that the publication adds. */
export type Reading = Omit<StoredInsight, 'ts' | 'e2e_latency_ms'>;

/** The class of a confidence, which is already rounded to three decimals. */
export function sqiClass(confidence: number): SqiClass {
  if (confidence >= 0.8) return 'excellent';
  return confidence >= 0.5 ? 'acceptable' : 'unfit';
}

/** Adds the time of publication to a reading. */
export function publishedAt(r: Reading, ts: number): StoredInsight {
  return {
    type: r.type,
    value: r.value,
    unit: r.unit,
    ts,
    session_id: r.session_id,
    device_id: r.device_id,
    confidence: r.confidence,
    sqi_class: r.sqi_class,
    actual_start: r.actual_start,
    actual_end: r.actual_end,
    coverage: r.coverage,
    e2e_latency_ms: ts - r.actual_end,
    algorithm: r.algorithm,
    ...(r.sdnn !== undefined && r.pnn50 !== undefined && { sdnn: r.sdnn, pnn50: r.pnn50 }),
  };
}

/** The live form of a stored insight. */
export function liveForm(i: StoredInsight): LiveInsight {
  return {
    type: i.type,
    value: i.value,
    unit: i.unit,
    ts: i.ts,
    session_id: i.session_id,
    device_id: i.device_id,
    confidence: i.confidence,
    sqi_class: i.sqi_class,
  };
}
