import { SCRATCH } from '../memory/map';
import { Row } from '../memory/row';

/** Working arrays of R peak detection, as a chain: each begins where the previous one ends. */

/** Most features at a time, grid samples: those since the previous beat, and the neighbours that they need. */
const MOST: usize = 512;
/** Grid samples whose evidence is computed at a time. */
export const BLOCK: i32 = 16;
/** Most intervals of a window: 8 s at 250 bpm, and undecided ones. */
export const MAX_INTERVALS: i32 = 64;
/** Wavelets of one lead's group, grid samples. */
const GROUP_ROW: usize = 256;

/** The grid samples for which the wavelets of all leads exist. */
@unmanaged
export class Group {
  from: i32;
  to: i32;
}

/** An RR interval of the window. */
@unmanaged
export class Interval {
  seconds: f64;
  /** Odds against the beat that ends it, by its morphology. */
  odds: f64;
  /** Whether it follows the previous interval without a gap. */
  joined: bool;
  /** Whether it holds a flat line, or noise. */
  obscured: bool;
  /** Whether it holds a short flat line. */
  holds: bool;
}

/** The RR intervals of the window. */
@unmanaged
export class Intervals {
  /** Sum, seconds. */
  duration: f64;
  count: i32;
  /** Whether the next interval follows the last one without a gap. */
  joins: bool;
}

const FEATURE_BYTES: usize = MOST * sizeof<f32>();
const BLOCK_BYTES: usize = BLOCK * sizeof<f32>();
const GROUP_BYTES: usize = GROUP_ROW * sizeof<f32>();
const LEADS_BYTES: usize = 4 * sizeof<f32>();

/** The lead without its level, and the responses of its two wavelets. */
export const LEVELED = changetype<Row<f32>>(SCRATCH);
const LEVELED_END: usize = SCRATCH + FEATURE_BYTES;

export const SHARPENED = changetype<Row<f32>>(LEVELED_END);
const SHARPENED_END: usize = LEVELED_END + FEATURE_BYTES;

export const BROADENED = changetype<Row<f32>>(SHARPENED_END);
const BROADENED_END: usize = SHARPENED_END + FEATURE_BYTES;

/** Features, by grid sample from the first requested one. */
export const ENERGY = changetype<Row<f32>>(BROADENED_END);
const ENERGY_END: usize = BROADENED_END + FEATURE_BYTES;

export const MATCH = changetype<Row<f32>>(ENERGY_END);
const MATCH_END: usize = ENERGY_END + FEATURE_BYTES;

export const PROJECTION = changetype<Row<f32>>(MATCH_END);
const PROJECTION_END: usize = MATCH_END + FEATURE_BYTES;

export const WIDTH = changetype<Row<f32>>(PROJECTION_END);
const WIDTH_END: usize = PROJECTION_END + FEATURE_BYTES;

/** Magnitudes of a wavelet. */
export const MAGNITUDES = changetype<Row<f32>>(WIDTH_END);
const MAGNITUDES_END: usize = WIDTH_END + FEATURE_BYTES;

/** By grid sample of a block: sums of weighted positions of energy and match, and of their weights. */
export const SUM = changetype<Row<f32>>(MAGNITUDES_END);
const SUM_END: usize = MAGNITUDES_END + 2 * BLOCK_BYTES;

/** The same for width. */
export const WIDE_SUM = changetype<Row<f32>>(SUM_END);
const WIDE_SUM_END: usize = SUM_END + 2 * BLOCK_BYTES;

/** A block of the chosen lead. */
export const NEWEST = changetype<Row<f32>>(WIDE_SUM_END);
const NEWEST_END: usize = WIDE_SUM_END + BLOCK_BYTES;

/** By lead: position of the R peak, grid samples from the first requested one. */
export const PEAKS = changetype<Row<f32>>(NEWEST_END);
const PEAKS_END: usize = NEWEST_END + LEADS_BYTES;

/** By lead: size of the beat. */
export const AMPLITUDES = changetype<Row<f32>>(PEAKS_END);
const AMPLITUDES_END: usize = PEAKS_END + LEADS_BYTES;

/** By lead: morphology score, the share of the beat's norm along the template; 0 without a template or for an ectopic beat. */
export const SHARES = changetype<Row<f32>>(AMPLITUDES_END);
const SHARES_END: usize = AMPLITUDES_END + LEADS_BYTES;

/** By lead: largest energy since the beat before, as a share of that of beats; 0 where there is no such time. */
export const NOISES = changetype<Row<f32>>(SHARES_END);
const NOISES_END: usize = SHARES_END + LEADS_BYTES;

/** By lead: how far the beat spreads in time, grid samples. */
export const SPREADS = changetype<Row<f32>>(NOISES_END);
const SPREADS_END: usize = NOISES_END + LEADS_BYTES;

/** By lead: largest breadth where neither a T wave nor a P wave is, as a share of that of beats. */
export const STRAYS = changetype<Row<f32>>(SPREADS_END);
const STRAYS_END: usize = SPREADS_END + LEADS_BYTES;

/** By lead: whether the beat is much smaller than those before. */
export const SMALL = changetype<Row<bool>>(STRAYS_END);
const SMALL_END: usize = STRAYS_END + 16;

/** A beat, at the places of the template. */
export const SHAPE = changetype<Row<f32>>(SMALL_END);
const SHAPE_END: usize = SMALL_END + 2 * BLOCK_BYTES;

export const GROUP = changetype<Group>(SHAPE_END);
const GROUP_END: usize = SHAPE_END + 16;

/** The responses of the two wavelets for a group; the leads are GROUP_ROW apart. */
const GROUP_SHARPENED_END: usize = GROUP_END + 4 * GROUP_BYTES;
const GROUP_BROADENED_END: usize = GROUP_SHARPENED_END + 4 * GROUP_BYTES;

export function groupSharpened(lead: i32): Row<f32> {
  return changetype<Row<f32>>(GROUP_END + <usize>lead * GROUP_BYTES);
}

export function groupBroadened(lead: i32): Row<f32> {
  return changetype<Row<f32>>(GROUP_SHARPENED_END + <usize>lead * GROUP_BYTES);
}

export const INTERVALS = changetype<Intervals>(GROUP_BROADENED_END);
const INTERVALS_END: usize = GROUP_BROADENED_END + 16;

export const INTERVAL_LIST = changetype<Row<Interval>>(INTERVALS_END);
export const ECG_SCRATCH_END: usize = INTERVALS_END + MAX_INTERVALS * ((offsetof<Interval>() + 7) & ~7);
