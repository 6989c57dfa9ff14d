import { type Algorithm, asEstimated } from '../algorithm.js';
import { BRIDGED_MS } from '../sample-run.js';

const algorithm: Algorithm = {
  id: 'fa10ccb3-db18-41e7-9331-09c6a44fe224',
  slug: 'rr-ppg',
  name: 'Respiratory rate from PPG',
  description:
    'Breaths over 32 s from how breathing modulates the amplitude, the baseline and the rate of the pulse. Trusted from 8 to 30 a minute, less often from 4 to 60, and up to half of the heart rate; the first trusted reading comes after 16 to 40 s of clean data. Near half of the heart rate the confidence is below 0.5: a faster breath looks like a slower one there.',
  version: '1.0.0',
  type: 'rr',
  range: [4, 60],
  windowS: 32,
  everyS: 2,
  requires: [['ppg_green', 'ppg', 'ppg_ir', 'ppg_red']],
  leastRateHz: 9, // Slower light gives the pulse a false slow swing
  bridgedS: BRIDGED_MS / 1000,
  estimator: 'rr_ppg',
  read: asEstimated,
};

export default algorithm;
