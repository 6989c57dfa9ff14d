import { type Algorithm, asEstimated } from '../algorithm.js';

const algorithm: Algorithm = {
  id: 'feb541bb-a202-41b7-ac57-991906994d51',
  slug: 'hr-ppg',
  name: 'Heart rate from PPG',
  description:
    'Pulse rate over 8 s from the optical signal; with an accelerometer, motion is distinguished from the pulse. Trusted from 50 to 220 bpm, and most of the time from 30 bpm; the first trusted reading comes after 4 to 8 s of clean data. Outside this range a reading has a confidence below 0.5, and no_reading says why.',
  version: '1.0.0',
  type: 'hr',
  range: [30, 220],
  windowS: 8,
  everyS: 1,
  requires: [['ppg_green', 'ppg', 'ppg_ir', 'ppg_red']],
  uses: ['accel'],
  estimator: 'hr_ppg',
  read: asEstimated,
};

export default algorithm;
