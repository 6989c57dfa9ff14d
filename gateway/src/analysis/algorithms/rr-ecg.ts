import { type Algorithm, asEstimated } from '../algorithm.js';

const algorithm: Algorithm = {
  id: '8bc44f86-5314-4848-a1d5-4c98f73a6ab2',
  slug: 'rr-ecg',
  name: 'Respiratory rate from ECG',
  description:
    'Breaths over 32 s from respiratory sinus arrhythmia and the height and baseline of the R waves. Trusted from 4 to 60 a minute and up to half of the heart rate; the first trusted reading comes after 16 to 40 s of clean data. Near half of the heart rate the confidence is below 0.5: a faster breath looks like a slower one there.',
  version: '1.0.0',
  type: 'rr',
  range: [4, 60],
  windowS: 32,
  everyS: 2,
  requires: [['ecg']],
  bridgedS: 0.04,
  estimator: 'rr_ecg',
  read: asEstimated,
};

export default algorithm;
