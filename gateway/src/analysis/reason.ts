import { REASONS, type Reason } from '@device-insights/contract/ingest';
import type { CoreReason } from '@device-insights/dsp-wasm';

/** What is known of a window whose reading is not trusted, or missing. */
export interface WindowFacts {
  /** Whether every channel that the algorithm needs has data in the window. */
  readonly hasData: boolean;
  /** Share of the window's time with data, of what lies after the channels' first data. */
  readonly coverage: number;
  /** Whether the reading has the rhythm of the gaps. */
  readonly isOfGaps: boolean;
  /** What the sample values tell; null for nothing. */
  readonly core: CoreReason | null;
  /** What the value itself tells. */
  readonly value: 'implausible_ratio' | 'uncalibrated' | 'out_of_range' | null;
  /** Whether the rate of the samples, or their times, are not trusted. */
  readonly isRateOff: boolean;
  /** Share of the window that the data since the start, or since the last gap, fill. */
  readonly newest: number;
}

/** Minimum share of a window that must hold data. */
const HALF = 0.5;

/** The reason why a reading is not trusted, or missing: the first that applies. */
export function reasonOf(facts: WindowFacts): Reason {
  const { hasData, coverage, isOfGaps, core, value, isRateOff, newest } = facts;
  const applies = new Set<Reason | null>([
    hasData ? null : 'no_data',
    coverage < HALF || isOfGaps ? 'gaps' : null,
    core,
    value,
    isRateOff ? 'rate_off' : null,
    newest < HALF ? 'too_little' : null,
  ]);
  return REASONS.find((reason) => applies.has(reason)) ?? 'noise';
}
