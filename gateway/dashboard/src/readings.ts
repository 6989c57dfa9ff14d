/** The insight types of the specification, as a person reads them. */
export const TYPES = {
  hr: { name: 'Heart rate', unit: 'bpm', digits: 0, color: '--hr' },
  spo2: { name: 'SpO\u2082', unit: '%', digits: 1, color: '--spo2' },
  rr: { name: 'Breathing', unit: 'brpm', digits: 0, color: '--rr' },
} as const;

export type Type = keyof typeof TYPES;
export const TYPE_NAMES = Object.keys(TYPES) as Type[];

export function isType(text: string): text is Type {
  return text in TYPES;
}

/** A live insight (specification 2.4). */
export interface Reading {
  readonly type: Type;
  readonly value: number;
  readonly unit: string;
  readonly ts: number;
  readonly session_id: string;
  readonly device_id: string;
  readonly confidence: number;
  readonly sqi_class: 'excellent' | 'acceptable' | 'unfit';
}

/** A reading that is older is no longer current, ms. */
export const STALE_MS = 10_000;

/** The number to show: an unfit one is none (specification 6.3.4). */
export function shown({ type, value, sqi_class }: Pick<Reading, 'type' | 'value' | 'sqi_class'>): string {
  return sqi_class === 'unfit' ? '–' : value.toFixed(TYPES[type].digits);
}
