import type { Algorithm } from './algorithm.js';
import hrEcg from './algorithms/hr-ecg.js';
import hrPpg from './algorithms/hr-ppg.js';
import rrEcg from './algorithms/rr-ecg.js';
import rrPpg from './algorithms/rr-ppg.js';
import rrResp from './algorithms/rr-resp.js';
import spo2Ratio from './algorithms/spo2-ratio.js';

/** Every algorithm of the service, by slug. */
export const ALGORITHMS: readonly Algorithm[] = [hrEcg, hrPpg, rrEcg, rrPpg, rrResp, spo2Ratio];

/** The algorithms that an entitlement lists; null means all. */
export function entitled(slugs: readonly string[] | null): readonly Algorithm[] {
  return slugs === null ? ALGORITHMS : ALGORITHMS.filter(({ slug }) => slugs.includes(slug));
}

/** Window length of the slowest algorithm, seconds. */
export const LONGEST_WINDOW_S = Math.max(...ALGORITHMS.map(({ windowS }) => windowS));
