import type { Algorithm, AnyAlgorithm, BeatAlgorithm } from './algorithm.js';
import beatsEcg from './algorithms/beats-ecg.js';
import beatsPpg from './algorithms/beats-ppg.js';
import hrEcg from './algorithms/hr-ecg.js';
import hrPpg from './algorithms/hr-ppg.js';
import hrvEcg from './algorithms/hrv-ecg.js';
import hrvPpg from './algorithms/hrv-ppg.js';
import rhythmEcg from './algorithms/rhythm-ecg.js';
import rhythmPpg from './algorithms/rhythm-ppg.js';
import rrEcg from './algorithms/rr-ecg.js';
import rrPpg from './algorithms/rr-ppg.js';
import rrResp from './algorithms/rr-resp.js';
import spo2Ratio from './algorithms/spo2-ratio.js';

/** Every algorithm that computes readings. */
export const ALGORITHMS: readonly Algorithm[] = [
  ...[hrEcg, hrPpg, rrEcg, rrPpg, rrResp, spo2Ratio],
  ...[hrvEcg, hrvPpg, rhythmEcg, rhythmPpg],
];

/** Those that keep beats. */
export const BEAT_ALGORITHMS: readonly BeatAlgorithm[] = [beatsEcg, beatsPpg];

/** Every algorithm of the service. */
export const CATALOGUE: readonly AnyAlgorithm[] = [...ALGORITHMS, ...BEAT_ALGORITHMS];

/** The algorithms that an entitlement lists; null means all. */
export function entitled<Each extends AnyAlgorithm>(
  algorithms: readonly Each[],
  slugs: readonly string[] | null,
): readonly Each[] {
  return slugs === null ? algorithms : algorithms.filter(({ slug }) => slugs.includes(slug));
}

/** Window length of the slowest algorithm, seconds. */
export const LONGEST_WINDOW_S = Math.max(...ALGORITHMS.map(({ windowS }) => windowS));
