import { REASONS, type Reason } from '@device-insights/contract/ingest';
import type { Answer, CoreReason } from '@device-insights/dsp-wasm';
import type { Algorithm, DeviceTraits } from './algorithm.js';
import type { AnalysedChannel } from './channel.js';
import { isOfGaps } from './gap-rhythm.js';
import type { Verdict } from './no-reading.js';
import type { DueWindow } from './steps.js';

/** What is known of a window whose reading is not trusted, or missing. */
export interface WindowFacts {
  /** Whether every channel that the algorithm needs has data in the window. */
  readonly hasData: boolean;
  /** Share of the window's time with values, of what lies after the channels' first data. */
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

/** Names of the numbers that the core sees. */
const SEEN: Readonly<Record<CoreReason, string | null>> = {
  no_contact: 'level',
  saturated: 'share',
  bad_scale: 'value',
  no_dc: 'level',
  hum: 'share',
  motion: 'acceleration_g',
  noise: null,
};

/**
 * What an algorithm says of a window without a trusted reading.
 * @param confidence that of its reading, 0 without one
 */
export function verdictOf(window: DueWindow, answer: Answer, confidence: number, device: DeviceTraits): Verdict {
  const { algorithm, channels, end } = window;
  const interval = { start: end - algorithm.windowS, end };
  const newest = channels.map(({ coverage }) => coverage.newest(interval));
  const silent = channels[newest.indexOf(0)];
  const estimate = answer.estimate && algorithm.read(answer.estimate, device);
  const facts: WindowFacts = {
    hasData: silent === undefined,
    coverage: coverageSinceStart(window),
    isOfGaps: estimate !== null && isOfGaps(estimate.value, window.gapRhythm),
    core: answer.reason,
    value: estimate && valueDoubt(estimate, answer.reason, algorithm.range),
    isRateOff: window.offRate || window.doubtful,
    newest: Math.min(...newest) / algorithm.windowS,
  };
  const reason = reasonOf(facts);
  const seen = reason === answer.reason ? ofCore(answer, confidence) : ofWindow(reason, window, facts, silent);
  const value = { ratio: answer.estimate?.value, value: estimate?.value };
  const named = VALUE[reason];
  return {
    reason,
    confidence,
    algorithm: algorithm.slug,
    seen: rounded(named ? { [named]: value[named] ?? Number.NaN } : seen),
  };
}

/** The reasons that are told with the ratio or the value. */
const VALUE: Readonly<Partial<Record<Reason, 'ratio' | 'value'>>> = {
  implausible_ratio: 'ratio',
  uncalibrated: 'value',
  out_of_range: 'value',
};

function ofCore({ reason, seen }: Answer, confidence: number): Record<string, number> {
  const name = reason && SEEN[reason];
  return name ? { [name]: seen } : { confidence };
}

function ofWindow(
  reason: Reason,
  { algorithm }: DueWindow,
  { coverage, newest }: WindowFacts,
  silent: AnalysedChannel | undefined,
): Record<string, number> {
  if (reason === 'no_data') return silentChannel(silent);
  if (reason === 'gaps') return { coverage };
  return reason === 'too_little' ? { seconds: newest * algorithm.windowS } : {};
}

/** Share of a window with values, of what lies after the first data of its channels. */
function coverageSinceStart({ algorithm, channels, end, coverage }: DueWindow): number {
  const first = Math.max(end - algorithm.windowS, ...channels.map((channel) => channel.coverage.first));
  if (first >= end) return 0;
  const missing = Math.max(...channels.map((channel) => channel.coverage.withoutValues({ start: first, end })));
  return Math.min(1, (coverage * algorithm.windowS) / (end - first), 1 - missing / (end - first));
}

/** What a verdict says of a channel without data. */
export function silentChannel(channel: AnalysedChannel | undefined): Record<string, number> {
  return channel ? { silent_channel: channel.index } : {};
}

/** What a value itself gives as the reason; a ratio tells nothing of lights that do not agree. */
function valueDoubt(
  { value, doubt }: ReturnType<Algorithm['read']>,
  core: CoreReason | null,
  [least, most]: Algorithm['range'],
): WindowFacts['value'] {
  if (doubt !== undefined) return core === null ? doubt : null;
  return value < least || value > most ? 'out_of_range' : null;
}

function rounded(seen: Readonly<Record<string, number>>): Record<string, number> {
  const known = Object.entries(seen).filter(([, value]) => Number.isFinite(value));
  return Object.fromEntries(known.map(([name, value]) => [name, Number(value.toPrecision(4))]));
}
