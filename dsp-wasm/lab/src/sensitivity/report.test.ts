import type { Constant } from '@device-insights/dsp-wasm/tuning';
import { expect } from 'chai';
import type { Block } from './blocks.js';
import { report } from './report.js';

const GAIN: Constant = {
  ...{ folder: 'pulse', name: 'GAIN', type: 'f32', value: 4 },
  ...{ what: 'A gain.', unit: 'ratio', origin: 'chosen', source: '' },
};

/** Blocks of ten windows, all answered, with these mean errors; `wrong` of each are wrong but trusted. */
const blocks = (errors: readonly number[], wrong = 0): Block[] =>
  errors.map((error) => ({
    ...{ group: 'hr', windows: 10, answered: 10, errors: 10 * error },
    ...{ confidences: 8, trusted: 9, wrong },
  }));

const BASE = blocks([1, 2, 1, 2]);
const reportOf = (atHalf: readonly Block[] | null, atTwice: readonly Block[] | null) => {
  const lines = report(BASE, ['hr'], [{ constant: GAIN, half: 2, twice: 8, atHalf, atTwice }]).split('\n');
  return { row: lines[3], cliff: lines[5], idle: lines[7] };
};

describe('the report of a constant', () => {
  it('marks figures that are worse beyond the spread in bold, and better ones in italics', () => {
    const { row } = reportOf(blocks([1.1, 2.1, 1.1, 2.1]), blocks([0.9, 1.9, 0.9, 1.9]));
    expect(row).to.equal('| GAIN | 4 | 2, 8 | A gain. | **1.6**, *1.4* | = | = |');
  });

  it('does not mark a change within the spread', () => {
    expect(reportOf(blocks([1, 2, 1, 3]), BASE).row).to.include('| 1.75, = |');
  });

  it('names a constant at a cliff: the error or the wrong but trusted readings rise steeply, or the core fails', () => {
    expect(reportOf(blocks([1.1, 2.1, 1.1, 2.1]), BASE).cliff).to.equal('At a cliff: none.');
    expect(reportOf(BASE, blocks([2, 3, 2, 3])).cliff).to.equal('At a cliff: GAIN.');
    expect(reportOf(blocks([1, 2, 1, 2], 1), BASE).cliff).to.equal('At a cliff: GAIN.');
    expect(reportOf(null, BASE).cliff).to.equal('At a cliff: GAIN.');
  });

  it('names a constant that changes nothing', () => {
    expect(reportOf(BASE, blocks([1, 2, 1, 2])).idle).to.equal('Without any effect on these readings: GAIN.');
    expect(reportOf(BASE, blocks([1, 2, 1, 2.001])).idle).to.equal('Without any effect on these readings: none.');
  });
});
