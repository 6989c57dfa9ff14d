import { type Algorithm, asEstimated } from '../algorithm.js';

const algorithm: Algorithm = {
  id: 'd446f7b3-8198-4771-9537-7308a0462748',
  slug: 'hr-ecg',
  name: 'Heart rate from ECG',
  description:
    'Heart rate over 8 s from the intervals between R peaks. Trusted from 25 to 300 bpm; the first trusted reading comes after 4 s of clean data, after 6 to 9 s below 60 bpm. Outside this range a reading has a confidence below 0.5, and no_reading says why.',
  version: '1.0.0',
  type: 'hr',
  range: [30, 300],
  windowS: 8,
  everyS: 1,
  requires: [['ecg']],
  estimator: 'hr_ecg',
  read: asEstimated,
};

export default algorithm;
