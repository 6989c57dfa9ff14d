import type { LiveInsight } from '../../src/insight.js';

/** The insight types, as a person reads them, with the distance of their readings, s. */
export const TYPES = {
  hr: { name: 'Heart rate', unit: 'bpm', digits: 0, color: '--hr', everyS: 1 },
  spo2: { name: 'SpO\u2082', unit: '%', digits: 1, color: '--spo2', everyS: 1 },
  rr: { name: 'Breathing', unit: 'brpm', digits: 0, color: '--rr', everyS: 2 },
  hrv: { name: 'HRV', unit: 'ms', digits: 0, color: '--hrv', everyS: 10 },
  rhythm: { name: 'Irregular', unit: '%', digits: 0, color: '--rhythm', everyS: 10 },
} as const;

export type Type = keyof typeof TYPES;
export const TYPE_NAMES = Object.keys(TYPES) as Type[];

/** The output of an algorithm, as a person reads it. */
export function outputName(type: Type | 'beats'): string {
  return type === 'beats' ? 'Beats' : TYPES[type].name;
}

export function isType(text: string): text is Type {
  return text in TYPES;
}

export type Reading = LiveInsight;

/** A device whose newest reading is older is no longer live, ms. */
export const STALE_MS = 10_000;

/** A reading that is older than this is no longer current, ms. */
export function staleMs(type: Type): number {
  return Math.max(STALE_MS, 2500 * TYPES[type].everyS);
}

/** The number to show: an unfit one is none (specification 6.3.4). */
export function shown({ type, value, sqi_class }: Pick<Reading, 'type' | 'value' | 'sqi_class'>): string {
  return sqi_class === 'unfit' ? '–' : value.toFixed(TYPES[type].digits);
}
