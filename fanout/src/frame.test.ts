import { expect } from 'chai';
import { textFrame } from './frame.js';

describe('text frame', () => {
  it('frames "Hello" as RFC 6455, section 5.7, does', () => {
    expect(textFrame('Hello').toString('hex')).to.equal('810548656c6c6f');
  });

  it('counts bytes, not characters', () => {
    expect(textFrame('ä€').toString('hex')).to.equal(`8105${Buffer.from('ä€').toString('hex')}`);
  });

  for (const [length, header] of [
    [0, '8100'],
    [125, '817d'],
    [126, '817e007e'],
    [65535, '817effff'],
    [65536, '817f0000000000010000'],
  ] as const) {
    it(`writes a length of ${length} in the shortest form`, () => {
      const frame = textFrame('x'.repeat(length));
      expect(frame.subarray(0, frame.length - length).toString('hex')).to.equal(header);
    });
  }
});
