import { expect } from 'chai';
import { Numbering } from './numbering.js';

const CHANNEL = {
  index: 1,
  ch_id: 'b',
  modality: 'accel',
  sample_rate_hz: 50,
  bit_depth: 16,
  num_channels: 3,
  next_seq: 0,
};

describe('numbering', () => {
  it('counts instants, from the number that the service expects', () => {
    const numbering = new Numbering();
    numbering.begin(1, 100);
    expect(numbering.take(CHANNEL, 6, undefined)).to.equal(100);
    expect(numbering.take(CHANNEL, 3, undefined)).to.equal(102);
    expect(numbering.take({ ...CHANNEL, index: 0 }, 3, undefined)).to.equal(0);
  });

  it('goes on after skipped numbers, and after the caller’s own', () => {
    const numbering = new Numbering();
    numbering.begin(1, 100);
    numbering.skip(1, 5);
    expect(numbering.take(CHANNEL, 3, undefined)).to.equal(105);
    expect(numbering.take(CHANNEL, 3, 50)).to.equal(150);
    expect(numbering.take(CHANNEL, 3, undefined)).to.equal(151);
  });

  it('refuses incomplete instants and impossible numbers, and counts nothing of them', () => {
    const numbering = new Numbering();
    expect(() => numbering.take(CHANNEL, 4, undefined)).to.throw(RangeError, '4 samples are not a whole number');
    expect(() => numbering.take(CHANNEL, 0, undefined)).to.throw(RangeError, '0 samples are not a whole number');
    expect(() => numbering.take(CHANNEL, 3, 2 ** 32)).to.throw(RangeError, 'end the session');
    expect(() => numbering.take(CHANNEL, 3, -1)).to.throw(RangeError, 'sequence number -1');
    expect(() => numbering.skip(1, 0.5)).to.throw(RangeError, 'whole number');
    expect(numbering.take(CHANNEL, 3, undefined)).to.equal(0);
  });
});
