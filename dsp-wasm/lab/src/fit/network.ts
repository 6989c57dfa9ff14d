import { CANDIDATES, HIDDEN, TRAITS } from '@device-insights/dsp-wasm/fit';
import { Draws } from '../motion-bench/random.js';

/**
 * Fits the network of dsp-wasm/assembly/pulse/motion.ts: softmax regression of the reference's rate over the candidates,
 * by stochastic gradient descent (Adam: Kingma and Ba, 2015).
 */

/** A window in motion: what the core saw, what was true, and how much it weighs. */
export interface Example {
  /** TRAITS rows of CANDIDATES. */
  readonly traits: Float32Array;
  /** Reference heart rate, bpm. */
  readonly rate: number;
  readonly weight: number;
}

const COUNT = CANDIDATES.length;
/** Weights of a hidden unit: of the traits, its bias, and its weight in the sum. */
const ROW = TRAITS + 2;
const LEAK = 0.1;
/** How far a candidate may lie from the reference and still be right, bpm: the spread of a window's own rate. */
const SPREAD = 2.5;
const EPOCHS = 8;
const BATCH = 32;
const RATE = 0.01;
const LAST_RATE = 1e-4;
/** Epochs at the end whose weights are averaged. */
const AVERAGED = 5;
/** Ridge penalty of each weight. */
const RIDGE = 1e-4;

/** The weights in the core's order, HIDDEN rows of TRAITS + 2. The same examples give the same weights. */
export function fitNetwork(examples: readonly Example[]): number[] {
  const { means, scales } = normOf(examples);
  const weights = firstWeights();
  const adam = new Adam(weights.length);
  const mean = new Float64Array(weights.length);
  const meanWeight = examples.reduce((sum, { weight }) => sum + weight, 0) / examples.length;
  const draws = new Draws(1);
  for (let epoch = 0; epoch < EPOCHS; epoch++) {
    const order = shuffled(examples.length, draws);
    const rate = RATE * (1 - epoch / EPOCHS) + LAST_RATE;
    for (let from = 0; from < order.length; from += BATCH) {
      const batch = order.slice(from, from + BATCH);
      const slope = new Float64Array(weights.length);
      for (const i of batch) {
        const example = examples[i];
        if (example) addSlope(slope, weights, example, means, scales, example.weight / meanWeight / batch.length);
      }
      adam.step(weights, slope, rate);
    }
    if (epoch >= EPOCHS - AVERAGED) for (let i = 0; i < mean.length; i++) add(mean, i, (weights[i] ?? 0) / AVERAGED);
  }
  return inCoreUnits(mean, means, scales);
}

function add(x: Float64Array, i: number, value: number): void {
  x[i] = (x[i] ?? 0) + value;
}

/** Mean and standard deviation of each trait. */
function normOf(examples: readonly Example[]): { means: Float64Array; scales: Float64Array } {
  const [means, squares] = [new Float64Array(TRAITS), new Float64Array(TRAITS)];
  const n = examples.length * COUNT;
  for (const { traits } of examples) {
    for (let i = 0; i < traits.length; i++) {
      const trait = Math.floor(i / COUNT);
      add(means, trait, (traits[i] ?? 0) / n);
      add(squares, trait, (traits[i] ?? 0) ** 2 / n);
    }
  }
  return { means, scales: squares.map((square, i) => Math.sqrt(square - (means[i] ?? 0) ** 2) + 1e-6) };
}

function firstWeights(): Float64Array {
  const draws = new Draws(2);
  return Float64Array.from({ length: HIDDEN * ROW }, (_, i) => {
    const place = i % ROW;
    if (place === TRAITS) return 0;
    return draws.normal() * (place < TRAITS ? 1 / Math.sqrt(TRAITS) : 0.5 / Math.sqrt(HIDDEN));
  });
}

function shuffled(count: number, draws: Draws): number[] {
  const order = Array.from({ length: count }, (_, i) => i);
  for (let i = count - 1; i > 0; i--) {
    const j = draws.below(i + 1);
    [order[i], order[j]] = [order[j] ?? 0, order[i] ?? 0];
  }
  return order;
}

const inputs = new Float64Array(TRAITS * COUNT);
const units = new Float64Array(HIDDEN * COUNT);
const odds = new Float64Array(COUNT);

/** Adds one example's share of the slope of the loss. */
function addSlope(
  slope: Float64Array,
  weights: Float64Array,
  { traits, rate }: Example,
  means: Float64Array,
  scales: Float64Array,
  share: number,
): void {
  for (let t = 0; t < TRAITS; t++) {
    const [mean = 0, scale = 1] = [means[t], scales[t]];
    for (let c = 0; c < COUNT; c++) inputs[t * COUNT + c] = ((traits[t * COUNT + c] ?? 0) - mean) / scale;
  }
  forward(weights);
  const wrong = misfit(rate, share);
  for (let h = 0; h < HIDDEN; h++) addUnitSlope(slope, weights, h, wrong);
}

/** Fills `units` before the rectifier, and `odds`. */
function forward(weights: Float64Array): void {
  odds.fill(0);
  for (let h = 0; h < HIDDEN; h++) {
    const own = units.subarray(h * COUNT, (h + 1) * COUNT).fill(weights[h * ROW + TRAITS] ?? 0);
    for (let t = 0; t < TRAITS; t++) {
      const weight = weights[h * ROW + t] ?? 0;
      for (let c = 0; c < COUNT; c++) own[c] = (own[c] ?? 0) + weight * (inputs[t * COUNT + c] ?? 0);
    }
    const out = weights[h * ROW + TRAITS + 1] ?? 0;
    for (let c = 0; c < COUNT; c++) odds[c] = (odds[c] ?? 0) + out * rectified(own[c] ?? 0);
  }
}

const rectified = (x: number) => Math.max(x, LEAK * x);

const wrongs = new Float64Array(COUNT);

/** Probability less what should be, by candidate. */
function misfit(rate: number, share: number): Float64Array {
  const most = Math.max(...odds);
  let [sum, wanted] = [0, 0];
  for (let c = 0; c < COUNT; c++) {
    sum += Math.exp((odds[c] ?? 0) - most);
    wanted += right(c, rate);
  }
  for (let c = 0; c < COUNT; c++) wrongs[c] = share * (Math.exp((odds[c] ?? 0) - most) / sum - right(c, rate) / wanted);
  return wrongs;
}

const right = (c: number, rate: number) => Math.exp(-0.5 * (((CANDIDATES[c] ?? 0) - rate) / SPREAD) ** 2) + 1e-6;

function addUnitSlope(slope: Float64Array, weights: Float64Array, h: number, wrong: Float64Array): void {
  const out = weights[h * ROW + TRAITS + 1] ?? 0;
  const own = units.subarray(h * COUNT, (h + 1) * COUNT);
  let [ofOut, ofBias] = [0, 0];
  for (let c = 0; c < COUNT; c++) {
    const x = own[c] ?? 0;
    ofOut += (wrong[c] ?? 0) * rectified(x);
    own[c] = (wrong[c] ?? 0) * out * (x > 0 ? 1 : LEAK);
    ofBias += own[c] ?? 0;
  }
  add(slope, h * ROW + TRAITS + 1, ofOut);
  add(slope, h * ROW + TRAITS, ofBias);
  for (let t = 0; t < TRAITS; t++) {
    let sum = 0;
    for (let c = 0; c < COUNT; c++) sum += (own[c] ?? 0) * (inputs[t * COUNT + c] ?? 0);
    add(slope, h * ROW + t, sum);
  }
}

class Adam {
  readonly #first: Float64Array;
  readonly #second: Float64Array;
  #steps = 0;

  constructor(length: number) {
    this.#first = new Float64Array(length);
    this.#second = new Float64Array(length);
  }

  step(weights: Float64Array, slope: Float64Array, rate: number): void {
    this.#steps++;
    for (let i = 0; i < weights.length; i++) {
      const g = (slope[i] ?? 0) + RIDGE * (weights[i] ?? 0);
      const first = 0.9 * (this.#first[i] ?? 0) + 0.1 * g;
      const second = 0.999 * (this.#second[i] ?? 0) + 0.001 * g * g;
      this.#first[i] = first;
      this.#second[i] = second;
      const spread = Math.sqrt(second / (1 - 0.999 ** this.#steps)) + 1e-8;
      add(weights, i, (-rate * first) / (1 - 0.9 ** this.#steps) / spread);
    }
  }
}

/** Takes the norm of the traits into the weights and biases. */
function inCoreUnits(weights: Float64Array, means: Float64Array, scales: Float64Array): number[] {
  const result = Array.from(weights);
  for (let h = 0; h < HIDDEN; h++) {
    for (let t = 0; t < TRAITS; t++) {
      const weight = (weights[h * ROW + t] ?? 0) / (scales[t] ?? 1);
      result[h * ROW + t] = weight;
      result[h * ROW + TRAITS] = (result[h * ROW + TRAITS] ?? 0) - weight * (means[t] ?? 0);
    }
  }
  return result.map((weight) => Number(weight.toFixed(4)));
}
