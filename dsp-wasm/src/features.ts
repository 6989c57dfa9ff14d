/**
 * The models of confidence, in the order of their numbers (assembly/memory/features.ts), each with the names of its features, in their
 * order. The confidence only rises with a feature whose name begins with +, and only falls with one with -: the fit keeps to that. The
 * weights are in assembly/FAMILY/MODEL_weights.ts, which the lab writes.
 */
export const FEATURES = {
  /**
   * Heart rate from light, at rest: the window's likelihood of the rate, how far the track is from it; of the counted beats how far other
   * rises are below theirs, how short and how long their intervals are; how far the value is from the window's own.
   */
  hr_ppg_rest: ['+likelihood', '-off_track', '-margin', '-short', '-gap', '-step'],
  /** Heart rate from light, in motion: how sure the track is (log odds), what its share of the likelihood lacks, distance from motion. */
  hr_ppg_motion: ['+belief', '+support', '+seen_apart'],
  /**
   * Heart rate from ECG: beats that are none by their morphology (logarithm of the expected number), variation of the
   * intervals, size of the smallest beat, separation of energy and of match from noise, share of the window that intervals cover;
   * of the newest beats how well they fit their template, how far they are shifts of the level, and how little the lead rests between them;
   * how much energy lies between them that does not resemble them (logarithm), as with missed beats of another shape.
   */
  hr_ecg: ['-doubt', '-variation', '+contrast', '+energy', '+match', '+covered', '+fit', '-shift', '-rest', '-unlike'],
  /**
   * Respiratory rate: mass of the posterior about it (log odds), likelihood of the window (logarithm), variance of the posterior (logarithm); from light,
   * the pulse-respiration quotient (logarithm); from ECG, how much slower than usual the rate is (logarithm), how full the window is, which part of
   * the power the second best series has at the rate, and whether the beats are heartbeats (log odds).
   */
  rr_ppg: ['+mass', '+likelihood', '-spread', '-quotient'],
  rr_ecg: ['+mass', '+likelihood', '-spread', '-slowness', '+window', '+second', '+heartbeats'],
  /** From a belt: part of the power at the rate, variance of the posterior (logarithm). */
  rr_resp: ['+share', '-spread'],
  /**
   * SpO2: scatter of the ratio (logarithm), share of the seconds whose channels agree, share of flat steps (root), how far the ratio changes with
   * less noise (root), how near it is to that of a movement, evenness of the swings over the seconds and share of them that changes within a
   * second (logarithms), skewness of the slopes, that times how much they repeat at a heart's pace, and how much larger than usual the pulse is (logarithm).
   */
  spo2: ['-scatter', '+share', '-flat', '-bias', '-near_one', '+evenness', '+swing', '+skewness', '+pulse', '-growth'],
  /**
   * Variability: share of the beats that are artefacts (root), mean doubt of a beat, RMSSD (logarithms), part of the window that intervals cover, how much
   * the correction lowers RMSSD, how far few large changes make it, and how far RMSSD changes with slightly other thresholds (logarithms); from light,
   * how far noise moves a pulse in time: its share of the pulse's height times how long the pulse rises (logarithm).
   */
  hrv_ecg: ['-artefacts', '-doubt', 'rmssd', '+covered', '-lowered', '-tails', '-unstable'],
  hrv_ppg: ['-artefacts', '-doubt', 'rmssd', '+covered', '-lowered', '-tails', '-unstable', '-jitter'],
  /**
   * Probability of a rhythm as in atrial fibrillation: lower quartile of the changes, least of their medians over one to four intervals (logarithms),
   * coefficient of sample entropy, share of turning points, correlation of successive intervals.
   */
  rhythm: ['+lower', '+median', '+entropy', 'turns', 'correlation'],
} as const satisfies Readonly<Record<string, readonly string[]>>;

export type ConfidenceModel = keyof typeof FEATURES;
export const MODELS = Object.keys(FEATURES) as readonly ConfidenceModel[];

/** The features of an answer. */
export interface AnswerFeatures {
  readonly model: ConfidenceModel;
  /** In the order of their names. */
  readonly values: readonly number[];
}
