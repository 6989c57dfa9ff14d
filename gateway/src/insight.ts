/** The types of insights, with their units. */
export const UNITS = { hr: 'bpm', spo2: '%', rr: 'brpm' } as const;
export type InsightType = keyof typeof UNITS;
export const INSIGHT_TYPES = Object.keys(UNITS) as InsightType[];

export type SqiClass = 'excellent' | 'acceptable' | 'unfit';

/** The stored form, which REST returns: times in ms since the epoch; `value` and `confidence` with up to three decimals. */
export interface StoredInsight {
  readonly type: InsightType;
  readonly value: number;
  readonly unit: string;
  /** Publish time: strictly increasing within a session and type. */
  readonly ts: number;
  readonly session_id: string;
  readonly device_id: string;
  readonly confidence: number;
  readonly sqi_class: SqiClass;
  readonly actual_start: number;
  readonly actual_end: number;
  readonly coverage: number;
  readonly e2e_latency_ms: number;
  /** `slug@version` of the algorithm that computed the insight. */
  readonly algorithm: string;
}

/** A reading before publication: all fields except those that the publication adds. */
export type Reading = Omit<StoredInsight, 'ts' | 'e2e_latency_ms'>;

/** The live form: exactly these fields. */
export type LiveInsight = Pick<
  StoredInsight,
  'type' | 'value' | 'unit' | 'ts' | 'session_id' | 'device_id' | 'confidence' | 'sqi_class'
>;

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
