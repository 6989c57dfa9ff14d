import { ECG_STATE } from './layout';

/** State of R peak detection (offsets from the slot's pointer). Cells are counted on the grid of the ecg channel. */

export const ECG_BLOCKS: usize = ECG_STATE; // i32, blocks consumed
export const ECG_START: usize = ECG_STATE + 4; // i32, first cell with data since the start or the last long loss, plus 1; 0: none yet
export const ECG_READY: usize = ECG_STATE + 8; // i32, 1 once the levels have been learnt
export const ECG_QUIET: usize = ECG_STATE + 12; // i32, cell since which the levels have stood without finding a beat
export const ECG_EMPTY: usize = ECG_STATE + 16; // i32, newest cell without data in any lead, plus 1; 0: none
export const ECG_CANDIDATES: usize = ECG_STATE + 20; // i32, candidates added so far
export const ECG_DECIDED: usize = ECG_STATE + 24; // i32, number of the newest decided candidate, plus 1; 0: none
export const ECG_LAST_BEAT: usize = ECG_STATE + 28; // i32, cell of the newest decided candidate
export const ECG_LEAD: usize = ECG_STATE + 32; // i32, lead on which beats are timed and measured
export const ECG_BEATS: usize = ECG_STATE + 36; // i32, beats put into the ring so far
export const ECG_READ: usize = ECG_STATE + 40; // i32, of these read by the host
export const ECG_SEEN: usize = ECG_STATE + 44; // i32, newest cell with data, plus 1; 0: none
export const ECG_LAST_TIME: usize = ECG_STATE + 48; // f64, time of the newest beat, seconds
export const ECG_FIT: usize = ECG_STATE + 56; // f32, how well the newest beats fit their template, 0 to 1; 0: not known yet
export const ECG_SHIFT: usize = ECG_STATE + 60; // f32, how far the newest beats are shifts of the level: 1 where they are stairs

export const LEADS: usize = ECG_STATE + 64; // MAX_SUBS x LEAD_BYTES
export const LEAD_BYTES: usize = 152;
export const LEAD_TEMPLATE: usize = 0; // TEMPLATE_CELLS x f32 (one more is 0)
export const LEAD_ENERGY: usize = 112; // level of the energy: at beats f32, between them f32
export const LEAD_MATCH: usize = 120; // level of the match with the template: f32, f32
export const LEAD_LEARNT: usize = 128; // i32, beats in the template
export const LEAD_STRANGE: usize = 132; // i32, beats in a row that did not fit it
export const LEAD_OFFSET: usize = 136; // i32, where in the template the R peak is, cells from its centre
export const LEAD_WIDTH: usize = 140; // level of the broad energy: f32, f32

export const EVIDENCE: usize = ECG_STATE + 672; // RECENT_CELLS x f32, ring by cell: log odds of a beat there
export const WIDE: usize = ECG_STATE + 928; // RECENT_CELLS x u8, ring by cell: 1 where only breadth speaks for a beat
export const RECENT_CELLS: i32 = 64;

export const CANDIDATE_RING: usize = ECG_STATE + 992;
export const CANDIDATE_BYTES: usize = 28;
export const MAX_CANDIDATES: i32 = 44;
export const CANDIDATE_CELL: usize = 0; // i32
export const CANDIDATE_EVIDENCE: usize = 4; // f32, log odds that it is a beat, by its looks alone
export const CANDIDATE_SCORE: usize = 8; // f32, of the best path that ends here
export const CANDIDATE_PERIOD: usize = 12; // f32, RR interval that this path expects next, seconds
export const CANDIDATE_BEFORE: usize = 16; // i32, number of the candidate before it on that path, plus 1; 0: the path begins here
export const CANDIDATE_EMPTY: usize = 20; // i32, ECG_EMPTY when it came
export const CANDIDATE_WIDE: usize = 24; // i32, 1: only its breadth speaks for it (an ectopic beat)

export const BEAT_RING: usize = ECG_STATE + 2224;

/** Pointer to the state of a lead. */
// @ts-ignore: decorator
@inline
export function leadOf(slot: usize, lead: i32): usize {
  return slot + LEADS + <usize>lead * LEAD_BYTES;
}

/** Pointer to the candidate of that number. */
// @ts-ignore: decorator
@inline
export function candidateOf(slot: usize, number: i32): usize {
  return slot + CANDIDATE_RING + <usize>(<u32>number % <u32>MAX_CANDIDATES) * CANDIDATE_BYTES;
}
