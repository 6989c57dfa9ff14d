import { readdirSync } from 'node:fs';
import type { Algorithm } from './algorithm.js';

const FOLDER = new URL('./algorithms/', import.meta.url);

/** Every algorithm of the service, by slug: every file under `algorithms/` that exports one is included. */
export const ALGORITHMS: readonly Algorithm[] = await Promise.all(
  readdirSync(FOLDER)
    .filter((file) => /^[^.]+\.[jt]s$/.test(file))
    .sort()
    .map(async (file) => ((await import(new URL(file, FOLDER).href)) as { default: Algorithm }).default),
);

/** The algorithms that an entitlement lists; null means all. */
export function entitled(slugs: readonly string[] | null): readonly Algorithm[] {
  return slugs === null ? ALGORITHMS : ALGORITHMS.filter(({ slug }) => slugs.includes(slug));
}

/** Longest window of all algorithms, seconds. */
export const LONGEST_WINDOW_S = Math.max(...ALGORITHMS.map(({ windowS }) => windowS));
