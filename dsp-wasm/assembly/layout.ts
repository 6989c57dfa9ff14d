/**
 * The linear memory, as one map. The host reads these numbers from the module's exported globals and keeps none of its own.
 *
 *   0        data of the compiler (64 KiB)
 *   STAGING  payload bytes on their way in, R peak times on their way out
 *   REQUESTS, RESULTS  one batch of steps
 *   PUSH     times of the payload in STAGING: the host would have to allocate to pass a float as an argument
 *   DECODED  instants of the staged payload, four f32 lanes each
 *   TABLES   twiddle factors and windows, computed once
 *   SCRATCH  working arrays of one estimate; nothing in it outlives the call
 *   CELLS    cells on their way into the rings
 *   SLOTS    one slot of SLOT_BYTES per session
 *
 * All sizes in bytes, unless the name says cells. A cell is one value on the working grid.
 */

/** Rate of the grid of ppg*, accel and resp, Hz: holds 5 harmonics of 180 bpm below its Nyquist frequency. */
export const SLOW_HZ: i32 = 32;
/** Rate of the grid of ecg, Hz: QRS energy lies below 40 Hz (Thakor 1984). */
export const ECG_HZ: i32 = 128;
/** Ring lengths: 48 s (what rr needs, and 8 s ahead), 16 s (hr window and 8 s ahead) and 16 s of ecg. */
export const LONG_CELLS: i32 = 1536;
export const SHORT_CELLS: i32 = 512;
export const ECG_CELLS: i32 = 2048;
/** Longest gap that is bridged by interpolation, seconds (ingest protocol, section 4). */
export const BRIDGE_SECONDS: f64 = 0.25;

export const MAX_CHANNELS: i32 = 8;
export const MAX_SUBS: i32 = 4;

// Modalities, numbered for `addChannel`.
export const KIND_PPG: i32 = 0;
export const KIND_PPG_GREEN: i32 = 1;
export const KIND_PPG_RED: i32 = 2;
export const KIND_PPG_IR: i32 = 3;
export const KIND_ECG: i32 = 4;
export const KIND_ACCEL: i32 = 5;
export const KIND_RESP: i32 = 6;
export const KINDS: i32 = 7;

// Estimators, numbered for the requests.
export const HR_PPG: i32 = 0;
export const HR_ECG: i32 = 1;
export const SPO2: i32 = 2;
export const RR_PPG: i32 = 3;
export const RR_ECG: i32 = 4;
export const RR_RESP: i32 = 5;

// ---- Regions shared by all sessions -------------------------------------------------------------------------------
export const STAGING: usize = 0x10000;
export const STAGING_BYTES: i32 = 0x4000;
export const REQUESTS: usize = 0x14000;
export const REQUEST_BYTES: i32 = 16; // slot i32 (-1: none), estimator i32, end f64
export const RESULTS: usize = 0x18000;
export const RESULT_BYTES: i32 = 24; // value f64, confidence f64, given i32
export const BATCH: i32 = 512;
export const PUSH: usize = 0x1c000; // t f64, period f64
/** Decoded instants: at most STAGING_BYTES / 2 of 16 bytes. */
export const DECODED: usize = 0x20000;
export const TABLES: usize = 0x40000;
export const TABLES_BYTES: i32 = 0x10000;
export const SCRATCH: usize = 0x50000;
export const SCRATCH_BYTES: i32 = 0x20000;
/** Cells on their way into the rings, four f32 lanes each; never more than LONG_CELLS. */
export const CELLS: usize = 0x70000;
export const SLOTS: usize = 0x80000;

// ---- Slot of a session (offsets from its pointer) -----------------------------------------------------------------
export const SLOT_CHANNEL_COUNT: usize = 0; // i32
export const SLOT_POOL_USED: usize = 4; // i32, bytes of the pool handed out
export const OUT_VALUE: usize = 8; // f64, written by an estimator that returns 1
export const OUT_CONFIDENCE: usize = 16; // f64
export const SLOT_KINDS: usize = 32; // KINDS x u32: pointer to the first channel of that modality, 0 where there is none
export const SLOT_LIGHTS: usize = 64; // MAX_LIGHTS x (channel pointer u32, sub-channel u32): PPG signals used for hr
export const SLOT_LIGHT_COUNT: usize = 96; // i32
export const MAX_LIGHTS: i32 = 4;

export const SLOT_CHANNELS: usize = 128;
export const CHANNEL_BYTES: usize = 256;
/** State of each estimator family; the offsets inside belong to the files that are named. */
export const HR_PPG_STATE: usize = 2176; // hr_ppg.ts
export const HR_PPG_BYTES: usize = 4096;
export const ECG_STATE: usize = 6272; // ecg_state.ts
export const ECG_BYTES: usize = 4736;
export const RR_STATE: usize = 11008; // rr*.ts
export const RR_BYTES: usize = 2048;
/** Rings of the sub-channels, handed out when the session opens. */
export const SLOT_POOL: usize = 13056;
export const POOL_BYTES: i32 = 51200;
/** Not a power of two, so that the same field of many sessions does not fall into the same cache sets. */
export const SLOT_BYTES: usize = 64256;

// ---- Channel (offsets from its pointer) ---------------------------------------------------------------------------
export const CH_KIND: usize = 0; // i32
export const CH_RATE: usize = 4; // i32, cells per second
export const CH_SUBS: usize = 8; // i32, sub-channels with a ring
export const CH_PAYLOAD_SUBS: usize = 12; // i32, sub-channels in the payload
export const CH_DONE: usize = 16; // i32, cells complete: all below this index are written
export const CH_NEXT_SECOND: usize = 20; // i32, first whole second which no sample has reached yet
export const CH_STEP: usize = 24; // f32, least step between two values: 1 of integers, 0 of floats
export const CH_STARTED: usize = 28; // i32, 1 once a sample came
export const CH_RING: usize = 32; // MAX_SUBS x u32
export const CH_CELLS: usize = 48; // MAX_SUBS x i32, length of each ring
export const CH_LAST_T: usize = 64; // f64, time of the newest sample, in cells
export const CH_NOMINAL_HZ: usize = 72; // f64
export const CH_OFFSET: usize = 80; // MAX_SUBS x f64, taken off every sample (NaN: no sample yet); DC = offset + ring
export const CH_LAST: usize = 112; // f32x4, newest sample without its offset
export const CH_AREA: usize = 128; // f32x4, integral over the current cell interval
export const CH_FALL: usize = 144; // f32x4, integral of that integral; these three times six
export const CH_RISE: usize = 160; // f32x4, area less fall of the interval before
export const CH_HOLE: usize = 176; // i32, -1: the cell in progress is not wholly covered, else 0
export const CH_BEGUN: usize = 180; // i32, the same of the cell after it, as far as data have come
export const CH_AT: usize = 184; // MAX_SUBS x u16, place of the next cell in each ring
export const CH_SECONDS: usize = 192; // SECONDS x i32, CH_DONE as it was when the first sample at or past that second came
export const SECONDS: i32 = 16;
