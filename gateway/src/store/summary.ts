import { INSIGHT_TYPES, type InsightType, type SqiClass } from '../insight.js';
import type { InsightSummary } from './store.js';

/** Some readings of one type and class of a session, as a store aggregates them. */
export interface ReadingGroup {
  readonly type: InsightType;
  readonly sqi_class: SqiClass;
  readonly readings: number;
  readonly sum: number;
  readonly min: number;
  readonly max: number;
}

/** Merges groups into one summary for each type; values of `unfit` readings count nowhere. */
export function summaryOf(groups: readonly ReadingGroup[]): InsightSummary[] {
  return INSIGHT_TYPES.toSorted().flatMap((type) => {
    const own = groups.filter((group) => group.type === type);
    if (own.length === 0) return [];
    const readings = { excellent: 0, acceptable: 0, unfit: 0 };
    for (const group of own) readings[group.sqi_class] += group.readings;
    return { type, readings, trusted: valuesOf(own.filter(({ sqi_class }) => sqi_class !== 'unfit')) };
  });
}

function valuesOf(groups: readonly ReadingGroup[]): InsightSummary['trusted'] {
  if (groups.length === 0) return null;
  const total = (of: 'sum' | 'readings') => groups.reduce((sum, group) => sum + group[of], 0);
  return {
    mean: total('sum') / total('readings'),
    min: Math.min(...groups.map(({ min }) => min)),
    max: Math.max(...groups.map(({ max }) => max)),
  };
}
