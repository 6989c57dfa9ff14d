/** The signal in which a beat was found: the R peak of an ECG, or the pulse in light. */
export const BEAT_SOURCES = ['ecg', 'ppg'] as const;

/** A heartbeat. */
export interface Beat {
  /** Data time, ms since the epoch, with at most one decimal. */
  readonly t: number;
  readonly source: (typeof BEAT_SOURCES)[number];
  /** 0 to 1, with at most three decimals. */
  readonly quality: number;
}

/** Data time of a block, seconds. */
export const BLOCK_S = 10;

/** The beats of a session in 10 s of data time, which are stored together. */
export interface BeatBlock {
  /** Data time, ms since the epoch: the beats are later than this, by at most `BLOCK_S`. */
  readonly start: number;
  /** In order of time. */
  readonly beats: readonly Beat[];
}
