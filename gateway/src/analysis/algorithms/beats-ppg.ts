import type { BeatAlgorithm } from '../algorithm.js';

const algorithm: BeatAlgorithm = {
  id: '1aba7a36-e90c-444a-b6b7-85c55d4fa5a4',
  slug: 'beats-ppg',
  name: 'Beats from PPG',
  description:
    'Stores the time and quality of each pulse in the light, by its upstroke, up to 20 s after it was measured.',
  version: '1.0.0',
  type: 'beats',
  source: 'ppg',
  windowS: 10,
  everyS: 10,
  requires: [['ppg_green', 'ppg', 'ppg_ir', 'ppg_red']],
  estimator: 'hrv_ppg',
};

export default algorithm;
