import { type Algorithm, asEstimated } from '../algorithm.js';

const algorithm: Algorithm = {
  id: '95f487af-83e0-4118-b037-adc22c52ffd4',
  slug: 'rr-resp',
  name: 'Respiratory rate from effort',
  description:
    'Breaths over 32 s, directly from a chest or abdominal effort signal. Trusted from 5 to 45 a minute; the first trusted reading comes after 18 to 40 s (56 s at 4 a minute) of clean data. A faster breath is read as a slower one, with a confidence below 0.5, and no_reading says why.',
  version: '1.0.0',
  type: 'rr',
  range: [4, 60],
  windowS: 32,
  everyS: 2,
  requires: [['resp']],
  estimator: 'rr_resp',
  read: asEstimated,
};

export default algorithm;
