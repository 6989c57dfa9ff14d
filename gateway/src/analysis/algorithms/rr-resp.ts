import { type Algorithm, asEstimated } from '../algorithm.js';

const algorithm: Algorithm = {
  id: '95f487af-83e0-4118-b037-adc22c52ffd4',
  slug: 'rr-resp',
  name: 'Respiratory rate from effort',
  description:
    'Breaths over 32 s, directly from a chest or abdominal effort signal. Trusted from 6 to 90 a minute, less often from 4; the first trusted reading comes after 16 to 40 s of clean data.',
  version: '1.0.0',
  type: 'rr',
  range: [4, 90],
  windowS: 32,
  everyS: 2,
  requires: [['resp']],
  estimator: 'rr_resp',
  read: asEstimated,
};

export default algorithm;
