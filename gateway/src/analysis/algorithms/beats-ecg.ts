import type { BeatAlgorithm } from '../algorithm.js';

const algorithm: BeatAlgorithm = {
  id: '2d0e29a2-b19f-4ed9-bc43-959eb746dd0b',
  slug: 'beats-ecg',
  name: 'Beats from ECG',
  description: 'Stores the time and quality of each beat: the R peaks of the ECG, up to 20 s after they were measured.',
  version: '1.0.0',
  type: 'beats',
  source: 'ecg',
  windowS: 10,
  everyS: 10,
  requires: [['ecg']],
  estimator: 'hrv_ecg',
};

export default algorithm;
