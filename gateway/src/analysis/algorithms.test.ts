import { expect } from 'chai';
import { INSIGHT_TYPES } from '../insight.js';
import { ALGORITHMS, BEAT_ALGORITHMS, CATALOGUE, entitled } from './algorithms.js';

describe('the algorithms', () => {
  it('finds at least one algorithm for every insight type', () => {
    for (const type of INSIGHT_TYPES) expect(ALGORITHMS.filter((a) => a.type === type)).not.to.deep.equal([]);
  });

  it('gives every algorithm a unique id and slug', () => {
    expect(new Set(CATALOGUE.map((a) => a.id))).to.have.property('size', CATALOGUE.length);
    expect(new Set(CATALOGUE.map((a) => a.slug))).to.have.property('size', CATALOGUE.length);
  });

  it('gives an account its entitled algorithms, and all of them for null', () => {
    expect(entitled(ALGORITHMS, null)).to.equal(ALGORITHMS);
    const slugs = ['hr-ecg', 'gone', 'beats-ppg'];
    expect(entitled(ALGORITHMS, slugs).map((a) => a.slug)).to.deep.equal(['hr-ecg']);
    expect(entitled(BEAT_ALGORITHMS, slugs).map((a) => a.slug)).to.deep.equal(['beats-ppg']);
    expect(entitled(ALGORITHMS, [])).to.deep.equal([]);
  });
});

describe('SpO2 from the ratio of ratios', () => {
  const spo2 = ALGORITHMS.find((a) => a.slug === 'spo2-ratio');
  const read = (value: number, spo2Curve: number[] | null) =>
    spo2?.read({ value, confidence: 0.95, variability: null }, { spo2Curve });

  it('uses the curve of Maxim if the device has none, which is never excellent, and not trusted below 90 %', () => {
    expect(read(0.8, null)?.value).to.be.closeTo(112.69 - 34.66 * 0.8 + 1.596 * 0.64, 0.01);
    expect(read(0.6, null)?.confidence).to.equal(0.79);
    for (const ratio of [0.7, 0.8, 1.2]) expect(read(ratio, null)?.confidence).to.be.below(0.5);
  });

  it('uses the curve of the device, of any order, if it has one', () => {
    expect(read(0.7, [110.5, -32.8])?.value).to.be.closeTo(87.54, 0.01);
    expect(read(0.5, [95, -10, 4])?.value).to.be.closeTo(91, 0.01);
  });

  it('trusts the curve of the device from 70 to 100 %, and less the lower the saturation is', () => {
    const confidences = [100, 95, 90, 85, 80, 75, 70].map((p) => read((110 - p) / 25, [110, -25])?.confidence ?? 0);
    expect(confidences.slice(3)).to.deep.equal(confidences.slice(3).toSorted((a, b) => b - a));
    for (const confidence of confidences) expect(confidence).to.be.within(0.75, 0.95);
  });

  it('does not trust what a curve gives below 69 or above 105 %, as for swapped lights', () => {
    for (const ratio of [0.1, 1 / 0.6, 1 / 0.52, 3])
      for (const curve of [null, [110, -25]]) expect(read(ratio, curve)?.confidence).to.be.below(0.5);
  });

  it('gives the expected value below 100 % if the curve comes near 100 % or exceeds it', () => {
    const readings = [95, 97, 98, 100, 102, 1e9, Number.MAX_VALUE].map((percent) => read(0, [percent])?.value);
    expect(readings.map((percent) => Number(percent?.toFixed(1)))).to.deep.equal([
      94.9, 96.7, 97.5, 98.5, 98.8, 98.9, 98.9,
    ]);
  });

  it('gives 0 if the curve is below 0', () => {
    expect(read(9, null)?.value).to.equal(0);
    expect(read(30, null)?.value, 'beyond the turn of a parabola').to.equal(0);
    expect(read(1, [-Number.MAX_VALUE])?.value).to.equal(0);
  });
});
