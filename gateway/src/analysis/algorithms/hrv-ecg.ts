import { type Algorithm, asEstimated } from '../algorithm.js';

const algorithm: Algorithm = {
  id: '3bd16bdf-e057-4662-acf9-df305b688eab',
  slug: 'hrv-ecg',
  name: 'Heart rate variability from ECG',
  description:
    'RMSSD over 60 s: how much each interval between beats differs from the one before, with artefacts corrected as by Lipponen and Tarvainen (2019). SDNN and pNN50 are stored with it. Not trusted in motion.',
  version: '1.0.0',
  type: 'hrv',
  range: [0, 500],
  windowS: 60,
  everyS: 10,
  requires: [['ecg']],
  uses: ['accel'],
  estimator: 'hrv_ecg',
  read: asEstimated,
};

export default algorithm;
