import { type Algorithm, asEstimated } from '../algorithm.js';

const algorithm: Algorithm = {
  id: '9b222136-b8f5-4d2c-b087-971ff872e7f8',
  slug: 'rhythm-ecg',
  name: 'Rhythm from ECG',
  description:
    'Probability in % that the beats of the last 60 s are irregular as in atrial fibrillation. It is no diagnosis: other irregular rhythms can look the same, and only a physician with an ECG can tell.',
  version: '1.0.0',
  type: 'rhythm',
  range: [0, 100],
  windowS: 60,
  everyS: 10,
  requires: [['ecg']],
  uses: ['accel'],
  estimator: 'rhythm_ecg',
  read: asEstimated,
};

export default algorithm;
