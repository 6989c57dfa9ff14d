import type { Episode, Faults } from './faults.js';

const SHARES = ['dropped', 'repeated', 'reordered', 'late'] as const;
const AMOUNTS = ['lateMs', 'driftPpm', 'jitterMs'] as const;
const KINDS = ['gap', 'motion', 'noise', 'saturation', 'off'] as const;

/** The form of faults, for help texts. */
export const FAULT_FORMS = `${SHARES.join('=SHARE, ')}=SHARE, ${AMOUNTS.join('=N, ')}=N, or an episode ${KINDS.join('|')}@FROM-UNTIL[*STRENGTH] in seconds`;

/**
 * Parses faults as people write them: `dropped=0.05`, `jitterMs=4`, `motion@20-40`, `noise@5-9*3`.
 *
 * @throws RangeError for other texts, listing the faults
 */
export function parseFaults(texts: readonly string[]): Faults {
  const amounts: Record<string, number> = {};
  const episodes: Episode[] = [];
  for (const text of texts) {
    const episode = parseEpisode(text);
    const amount = parseAmount(text);
    if (episode) episodes.push(episode);
    else if (amount) amounts[amount[0]] = amount[1];
    else throw new RangeError(`${JSON.stringify(text)} is not a fault; the faults are ${FAULT_FORMS}`);
  }
  return { ...amounts, episodes };
}

function parseEpisode(text: string): Episode | null {
  const [, name, from, until, strength] = /^(\w+)@([\d.]+)-([\d.]+)(?:\*([\d.]+))?$/.exec(text) ?? [];
  const kind = KINDS.find((known) => known === name);
  const episode = {
    from: Number(from),
    until: Number(until),
    ...(strength === undefined ? {} : { strength: Number(strength) }),
  };
  return kind && Object.values(episode).every(Number.isFinite) ? { kind, ...episode } : null;
}

function parseAmount(text: string): [string, number] | null {
  const [, name = '', digits] = /^(\w+)=(-?[\d.]+)$/.exec(text) ?? [];
  const amount = Number(digits);
  if (!Number.isFinite(amount)) return null;
  const share = SHARES.some((known) => known === name) && amount >= 0 && amount <= 1;
  return share || AMOUNTS.some((known) => known === name) ? [name, amount] : null;
}
