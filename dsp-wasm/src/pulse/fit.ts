import type { Answer, Core, StepRequest } from '../core.js';
import { SlotCore } from '../instance.js';
import { Kernel } from '../kernel.js';

/** Opens the core to the fits of its weights (dsp-wasm/lab). */

/** Heart rates that are compared in motion, bpm. */
export const CANDIDATES: readonly number[] = Array.from({ length: 52 }, (_, i) => 3.75 * (8 + i));
/** Traits of each; a window has them trait by trait, CANDIDATES apart. */
export const TRAITS = 15;
/** Hidden units; each has a weight of every trait, a bias, and its weight in the sum. */
export const HIDDEN = 16;

export interface ObservedCore {
  /** A core of one session. */
  readonly core: Core;
  /** Weighs from now on by these, HIDDEN rows of TRAITS + 2. */
  setWeights(weights: readonly number[]): void;
}

/** What the traits of a window in motion are given to; they are a copy. */
export type TraitsListener = (end: number, traits: Float32Array) => void;

interface Calls {
  traits(): number;
  motionWeights(): number;
}

/** No estimate, and no reason. */
export const NO_ANSWER: Answer = { estimate: null, reason: null, seen: 0 };

/** The same core, each of whose requests `answer` answers. */
export function eachAnswer(core: Core, answer: (request: StepRequest) => Answer): Core {
  return {
    maxSessions: core.maxSessions,
    bytesPerSession: core.bytesPerSession,
    get lanes() {
      return core.lanes;
    },
    get openSessions() {
      return core.openSessions;
    },
    open: (channels) => core.open(channels),
    step: (requests) => requests.map((request) => answer(request).estimate),
    answer: (requests) => requests.map(answer),
    features: () => core.features(),
  };
}

/** A core of heart rates from optical channels alone, which tells the traits of each window in motion after its step. */
export async function observeCore(listener: TraitsListener): Promise<ObservedCore> {
  const kernel = await Kernel.load(1);
  const { traits, motionWeights } = kernel.call as unknown as Calls;
  const core = new SlotCore(kernel, 1);
  const seen = new Float32Array(kernel.bytes.buffer, traits(), TRAITS * CANDIDATES.length);
  return {
    core: eachAnswer(core, (request) => {
      if (request.estimator !== 'hr_ppg') return NO_ANSWER;
      seen[0] = Number.NaN; // a window at rest leaves it so
      const [answer = NO_ANSWER] = core.answer([request]);
      if (answer.estimate && !Number.isNaN(seen[0])) listener(request.end, seen.slice());
      return answer;
    }),
    setWeights: (weights) => new Float32Array(kernel.bytes.buffer, motionWeights(), HIDDEN * (TRAITS + 2)).set(weights),
  };
}
