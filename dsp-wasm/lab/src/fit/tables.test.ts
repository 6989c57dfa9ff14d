import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { type ConfidenceModel, FEATURES } from '@device-insights/dsp-wasm';
import { readTables, type Table } from '@device-insights/dsp-wasm/tuning';
import { expect } from 'chai';

const LAB = new URL('../../', import.meta.url);
const textOf = (file: string) => readFileSync(new URL(file, LAB), 'utf8');
/** A constant of python/logistic.py. */
const constantOf = (name: string) =>
  Number(new RegExp(`^${name} = (\\S+)$`, 'm').exec(textOf('python/logistic.py'))?.[1]);
const WRONG_WEIGHT = constantOf('WRONG_WEIGHT');
const SURE_WRONG_WEIGHT = constantOf('SURE_WRONG_WEIGHT');
const RIDGE = constantOf('RIDGE');

/** The rows that a model was fitted on. */
function sampleOf(model: string) {
  const text = gunzipSync(readFileSync(new URL(`samples/${model}.csv.gz`, LAB))).toString();
  const [head = '', ...lines] = text.trim().split('\n');
  const columns = head.split(',');
  const names = columns.slice(columns.indexOf('grade') + 1);
  const rows = lines.map((line) => line.split(','));
  const column = (name: string) => rows.map((row) => Number(row[columns.indexOf(name)]));
  const wrong = /^(rr|hr_ecg)/.test(model) ? SURE_WRONG_WEIGHT : WRONG_WEIGHT;
  return { names, wrong, weights: column('weight'), grades: column('grade'), features: names.map(column) };
}

const sum = (x: readonly number[]) => x.reduce((total, v) => total + v, 0);

/** Slope of the loss of python/logistic.py by each weight, without evidence first, in units of the features' deviations. */
function slopes(
  { wrong, weights: own, grades, features }: ReturnType<typeof sampleOf>,
  [bias = 0, ...inner]: readonly number[],
) {
  const total = sum(own);
  const shares = own.map((weight) => weight / total);
  const average = (x: readonly number[]) => sum(x.map((v, i) => v * (shares[i] ?? 0)));
  const means = features.map(average);
  const deviations = features.map((x, j) => Math.sqrt(average(x.map((v) => (v - (means[j] ?? 0)) ** 2))) + 1e-9);
  const misfits = shares.map((share, i) => {
    const odds = bias + sum(inner.map((weight, j) => weight * (features[j]?.[i] ?? 0)));
    const misfit = 1 / (1 + Math.exp(-odds)) - (grades[i] === 0 ? 1 : 0);
    return share * (grades[i] === 2 ? wrong : 1) * misfit;
  });
  const ofFeatures = features.map((x, j) => {
    const [mean = 0, deviation = 1] = [means[j], deviations[j]];
    return sum(x.map((v, i) => (v - mean) * (misfits[i] ?? 0))) / deviation + RIDGE * (inner[j] ?? 0) * deviation;
  });
  return [sum(misfits), ...ofFeatures];
}

const isModel = ({ name }: Table) => name in FEATURES;

describe('the committed tables of weights', () => {
  for (const { name, weights } of readTables().filter(isModel)) {
    it(`are the fitted ones: no other weights of ${name} have less loss on its sample`, () => {
      const sample = sampleOf(name);
      expect(sample.names).to.deep.equal(FEATURES[name as ConfidenceModel]);
      expect(sample.weights.length).to.be.greaterThan(100);
      // The loss is convex: it is least where it has no slope, or where its slope points to weights of the wrong sign
      slopes(sample, weights).forEach((slope, i) => {
        const sign = { '+': 1, '-': -1 }[sample.names[i - 1]?.[0] ?? ''] ?? 0;
        if (sign !== 0) expect(sign * (weights[i] ?? 0), `sign of ${sample.names[i - 1]}`).to.be.at.least(0);
        if (sign !== 0 && weights[i] === 0) expect(sign * slope).to.be.greaterThan(-1e-5);
        else expect(slope).to.be.closeTo(0, 1e-5);
      });
    });
  }

  it('have each the sample that they were fitted on, and no sample is left over', () => {
    const samples = readdirSync(new URL('samples/', LAB)).map((file) => file.replace('.csv.gz', ''));
    const models = readTables().filter(isModel);
    expect(samples.toSorted()).to.deep.equal(models.map(({ name }) => name).toSorted());
  });

  it('are either models of confidence or the network, whose numbers are those of its digest', () => {
    const others = readTables().filter((table) => !isModel(table));
    expect(others.map(({ name }) => name)).to.deep.equal(['motion']);
    for (const { file, weights } of others) {
      const written = /Its digest: (\w+)/.exec(textOf(`../assembly/${file}`))?.[1];
      expect(createHash('sha256').update(weights.map(python).join(', ')).digest('hex').slice(0, 16)).to.equal(written);
    }
  });
});

/** A number as the fit writes it: whole ones with a point. */
const python = (x: number) => (Number.isInteger(x) ? x.toFixed(1) : String(x));
