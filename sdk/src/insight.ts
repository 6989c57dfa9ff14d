/** The types that this version knows; others may be added, and are to be ignored by clients that do not know them. */
export type InsightType = 'hr' | 'spo2' | 'rr';

export type SqiClass = 'excellent' | 'acceptable' | 'unfit';

/** An insight as a live subscription receives it (specification 2.4). */
export interface LiveInsight {
  readonly type: InsightType;
  /** Reading, in `unit`: bpm, % or brpm. */
  readonly value: number;
  readonly unit: string;
  /** Publish time, ms since the epoch. */
  readonly ts: number;
  readonly session_id: string;
  readonly device_id: string;
  /** Quality of the signal, 0 to 1. */
  readonly confidence: number;
  /** Its bucket: show `excellent`, dim `acceptable`, and never present `unfit` as authoritative. */
  readonly sqi_class: SqiClass;
}

const TYPES: ReadonlySet<string> = new Set<InsightType>(['hr', 'spo2', 'rr']);

/** Whether a message is an insight of a known type. */
export function isLiveInsight(message: unknown): message is LiveInsight {
  if (typeof message !== 'object' || message === null) return false;
  const { type, value, ts, session_id, device_id } = message as Partial<LiveInsight>;
  return (
    TYPES.has(String(type)) &&
    typeof value === 'number' &&
    typeof ts === 'number' &&
    typeof session_id === 'string' &&
    typeof device_id === 'string'
  );
}

/** The live form of a stored insight: the same insight, with exactly the fields of a live one. */
export function liveForm({
  type,
  value,
  unit,
  ts,
  session_id,
  device_id,
  confidence,
  sqi_class,
}: LiveInsight): LiveInsight {
  return { type, value, unit, ts, session_id, device_id, confidence, sqi_class };
}
