import { type Algorithm, asEstimated } from '../algorithm.js';

const algorithm: Algorithm = {
  id: '94d85674-6eb5-4047-af53-09d345f76c0d',
  slug: 'hrv-ppg',
  name: 'Heart rate variability from PPG',
  description:
    'RMSSD over 60 s from the intervals between pulses in the light, which come close to those of the ECG only at rest, with artefacts corrected as by Lipponen and Tarvainen (2019). SDNN and pNN50 are stored with it. Not trusted in motion.',
  version: '1.0.0',
  type: 'hrv',
  range: [0, 500],
  windowS: 60,
  everyS: 10,
  requires: [['ppg_green', 'ppg', 'ppg_ir', 'ppg_red']],
  uses: ['accel'],
  estimator: 'hrv_ppg',
  read: asEstimated,
};

export default algorithm;
