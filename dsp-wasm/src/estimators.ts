/** The estimators of the core, in the order of their numbers (assembly/estimators.ts). Each reads its own channels of a session. */
export const ESTIMATORS = [
  'hr_ppg',
  'hr_ecg',
  'spo2',
  'rr_ppg',
  'rr_ecg',
  'rr_resp',
  'hrv_ecg',
  'hrv_ppg',
  'rhythm_ecg',
  'rhythm_ppg',
] as const;
export type Estimator = (typeof ESTIMATORS)[number];
