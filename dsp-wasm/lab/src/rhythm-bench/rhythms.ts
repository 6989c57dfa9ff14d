import type { Draws } from '../motion-bench/random.js';

/**
 * Series of heartbeats at rest, by published models of their intervals:
 *
 *   sinus         a regular rhythm that breathing and slower waves modulate: the control
 *   fibrillation  atrial fibrillation: atrial impulses arrive at random times, and the atrioventricular node lets through
 *                 those that come after its refractory period
 *   paroxysm      episodes of atrial fibrillation in a sinus rhythm
 *   ectopic       single premature beats, atrial or ventricular
 *   bigeminy      spells in which every second beat is a premature ventricular one
 *   trigeminy     the same with every third beat
 *   runs          three to eight ventricular beats in a row, at 120 to 170 bpm
 */
export const RHYTHMS = ['sinus', 'fibrillation', 'paroxysm', 'ectopic', 'bigeminy', 'trigeminy', 'runs'] as const;
export type Rhythm = (typeof RHYTHMS)[number];

export type Origin = 'sinus' | 'atrial' | 'ventricular' | 'fibrillation';

export interface Beat {
  /** Time of the R peak, s. */
  readonly time: number;
  readonly origin: Origin;
}

/** Beats from before 0 s to after `seconds`. */
export function beatsOf(rhythm: Rhythm, draws: Draws, seconds: number): Beat[] {
  const next = RHYTHM[rhythm](draws);
  const beats: Beat[] = [{ time: -5, origin: 'sinus' }];
  for (;;) {
    const { time } = beats.at(-1) as Beat;
    if (time > seconds) return beats;
    for (const { interval, origin } of next(time)) {
      beats.push({ time: (beats.at(-1) as Beat).time + interval, origin });
    }
  }
}

interface Step {
  /** From the beat before, s. */
  readonly interval: number;
  readonly origin: Origin;
}

/** Continues a series after a beat at that time by one step, or by some that belong together. */
type Next = (time: number) => readonly Step[];

const RHYTHM: Readonly<Record<Rhythm, (draws: Draws) => Next>> = {
  sinus: (draws) => {
    const interval = sinusIntervals(draws);
    return (time) => [{ interval: interval(time), origin: 'sinus' }];
  },
  fibrillation: (draws) => fibrillation(draws),
  paroxysm: (draws) => paroxysms(draws),
  ectopic: (draws) => ectopics(draws),
  bigeminy: (draws) => spells(draws, 1),
  trigeminy: (draws) => spells(draws, 2),
  runs: (draws) => runs(draws),
};

/** Intervals of a sinus rhythm of 50 to 95 bpm, modulated by breathing and by waves of 0.1 Hz (McSharry et al. 2003). */
function sinusIntervals(draws: Draws): (time: number) => number {
  const mean = 60 / draws.uniform(50, 95);
  const [breath, breathDepth] = [draws.uniform(0.18, 0.33), draws.uniform(0.01, 0.05)];
  const [slowDepth, phase] = [draws.uniform(0.01, 0.03), draws.uniform(0, 2 * Math.PI)];
  return (time) =>
    mean *
    (1 +
      breathDepth * Math.sin(2 * Math.PI * breath * time) +
      slowDepth * Math.sin(0.2 * Math.PI * time + phase) +
      0.01 * draws.normal());
}

/** Share of the impulses that meet the pathway with the shorter refractory period, and how much longer the other's is, s. */
const SHORT_PATHWAY = 0.6;
const LONGER = 0.2;
/** A refractory period in s: its part that the interval before does not change, and the share of that interval in it. */
const REFRACTORY = 0.25;
const OF_INTERVAL = 0.15;
/** The node recovers over this time after the refractory period, s. */
const RECOVERY_S = 0.1;

/**
 * Intervals by the model of the atrioventricular node of Corino et al. (IEEE TBME 2011): impulses arrive as a Poisson
 * process, and are blocked until one of two refractory periods is over, then with a probability that falls to zero.
 */
function fibrillation(draws: Draws): Next {
  const impulses = draws.uniform(5, 9); // per second
  const slowness = draws.uniform(0.8, 1.9); // of the node, as medicines make it
  let before = 0.7;
  return () => {
    let interval = 0;
    for (;;) {
      interval -= Math.log(1 - draws.uniform(0, 1)) / impulses;
      const pathway = draws.uniform(0, 1) < SHORT_PATHWAY ? 0 : LONGER;
      const refractory = slowness * (REFRACTORY + OF_INTERVAL * before + pathway);
      if (draws.uniform(0, 1) < (interval - refractory) / RECOVERY_S) break;
    }
    before = interval;
    return [{ interval, origin: 'fibrillation' }];
  };
}

function paroxysms(draws: Draws): Next {
  const [sinus, fibrillating] = [sinusIntervals(draws), fibrillation(draws)];
  let until = -5;
  let inEpisode = draws.uniform(0, 1) < 0.5;
  return (time) => {
    if (time > until) {
      until = time + draws.uniform(15, 60);
      inEpisode = !inEpisode;
    }
    return inEpisode ? fibrillating(time) : [{ interval: sinus(time), origin: 'sinus' }];
  };
}

/** A premature beat comes after this share of the sinus interval, nearly the same in one person. */
function coupling(draws: Draws): () => number {
  const usual = draws.uniform(0.55, 0.75);
  return () => usual + 0.02 * draws.normal();
}

/**
 * A premature ventricular beat and the beat after it: the sinus node keeps its time, so the pause compensates for the early
 * beat in full.
 */
function ventricular(share: number, sinus: number): Step[] {
  return [
    { interval: share * sinus, origin: 'ventricular' },
    { interval: (2 - share) * sinus, origin: 'sinus' },
  ];
}

/** A premature atrial beat and the beat after it: it resets the sinus node, so the pause is shorter. */
function atrial(share: number, sinus: number): Step[] {
  return [
    { interval: share * sinus, origin: 'atrial' },
    { interval: 1.08 * sinus, origin: 'sinus' },
  ];
}

function ectopics(draws: Draws): Next {
  const [sinus, share] = [sinusIntervals(draws), coupling(draws)];
  const often = draws.uniform(0.05, 0.2);
  const early = draws.uniform(0, 1) < 0.5 ? atrial : ventricular;
  return (time) => {
    const interval = sinus(time);
    return draws.uniform(0, 1) < often ? early(share(), interval) : [{ interval, origin: 'sinus' }];
  };
}

/** Spells of half a minute or so in which a premature beat follows every `normal` normal ones. */
function spells(draws: Draws, normal: number): Next {
  const [sinus, share] = [sinusIntervals(draws), coupling(draws)];
  let until = -5;
  let inSpell = draws.uniform(0, 1) < 0.5;
  return (time) => {
    if (time > until) {
      until = time + draws.uniform(15, 50);
      inSpell = !inSpell;
    }
    const interval = sinus(time);
    const others = Array.from({ length: normal - 1 }, (): Step => ({ interval, origin: 'sinus' }));
    return inSpell ? [...ventricular(share(), interval), ...others] : [{ interval, origin: 'sinus' }];
  };
}

function runs(draws: Draws): Next {
  const [sinus, share] = [sinusIntervals(draws), coupling(draws)];
  const fast = 60 / draws.uniform(120, 170);
  return (time) => {
    const interval = sinus(time);
    if (draws.uniform(0, 1) > 0.05) return [{ interval, origin: 'sinus' }];
    const beats = Array.from({ length: 2 + draws.below(6) }, (): Step => ({ interval: fast, origin: 'ventricular' }));
    const first: Step = { interval: share() * interval, origin: 'ventricular' };
    return [first, ...beats, { interval: 1.2 * interval, origin: 'sinus' }];
  };
}
