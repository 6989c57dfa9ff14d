import { inflateRawSync } from 'node:zlib';
import { expect } from 'chai';
import { deflatedFrame, textFrame } from './frame.js';

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

describe('deflated frame', () => {
  it('inflates to the text when the tail is appended', () => {
    const text = JSON.stringify({ type: 'hr', values: Array.from({ length: 400 }, (_, index) => index % 7) });
    const frame = deflatedFrame(text);
    expect(frame.subarray(0, 2).toString('hex')).to.equal(`c1${(frame.length - 2).toString(16).padStart(2, '0')}`);
    expect(frame.length).to.be.below(text.length / 5);
    const payload = Buffer.concat([frame.subarray(2), Buffer.from('0000ffff', 'hex')]);
    expect(inflateRawSync(payload, { finishFlush: 2 }).toString()).to.equal(text);
  });

  it('is the plain frame if compression saves nothing', () => {
    expect(deflatedFrame('x').equals(textFrame('x'))).to.equal(true);
    expect(deflatedFrame('').equals(textFrame(''))).to.equal(true);
  });
});
