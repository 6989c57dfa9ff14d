// Without zod, which the threads of the store would load only for these lists.

/** The types of insights, with their units. */
export const UNITS = { hr: 'bpm', spo2: '%', rr: 'brpm', hrv: 'ms', rhythm: '%' } as const;
export type InsightType = keyof typeof UNITS;
export const INSIGHT_TYPES = Object.keys(UNITS) as InsightType[];
/** Classes of `sqi_class`, the best first. */
export const SQI_CLASSES = ['excellent', 'acceptable', 'unfit'] as const;
export type SqiClass = (typeof SQI_CLASSES)[number];
