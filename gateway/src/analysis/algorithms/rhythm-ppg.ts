import { type Algorithm, asEstimated } from '../algorithm.js';

const algorithm: Algorithm = {
  id: '2f6e7650-268e-4f65-b5d5-602f8bcf37f2',
  slug: 'rhythm-ppg',
  name: 'Rhythm from PPG',
  description:
    'Probability in % that the pulses of the last 60 s are irregular as in atrial fibrillation. It is no diagnosis: other irregular rhythms can look the same, and only a physician with an ECG can tell. Not trusted in motion.',
  version: '1.0.0',
  type: 'rhythm',
  range: [0, 100],
  windowS: 60,
  everyS: 10,
  requires: [['ppg_green', 'ppg', 'ppg_ir', 'ppg_red']],
  uses: ['accel'],
  estimator: 'rhythm_ppg',
  read: asEstimated,
};

export default algorithm;
