import { expect } from 'chai';
import { draw } from './drawing.js';
import type { Answer, Reference } from './score.js';

const REFERENCE: Reference = {
  id: 'walk-1',
  seconds: 12,
  types: ['hr'],
  windows: [8, 10, 12].map((end) => ({ end, values: { hr: 70 } })),
};

const answer = (end: number, value: number, confidence: number): Answer => {
  return { type: 'hr', value, confidence, actual_end: 1000 * end };
};

describe('the drawing of a recording', () => {
  it('colours trusted readings, and trusted readings that are out of tolerance', () => {
    const svg = draw(REFERENCE, [answer(8, 71, 0.9), answer(10, 90, 0.9), answer(12, 90, 0.1)], 'hr') ?? '';
    const colours = [...svg.matchAll(/<circle[^>]*fill="(#\w+)"/g)].map(([, colour]) => colour);
    expect(new Set(colours).size).to.equal(3);
    expect(svg).to.match(/<title>10 s: 90, confidence 0.9<\/title>/);
  });

  it('shows higher values above lower ones', () => {
    const svg = draw(REFERENCE, [answer(8, 60, 1), answer(10, 90, 1)], 'hr') ?? '';
    const [low = 0, high = 0] = [...svg.matchAll(/cy="([\d.]+)"/g)].map(([, y]) => Number(y));
    expect(high).to.be.below(low);
  });

  it('is left out if the reference has no values of that type', () => {
    expect(draw(REFERENCE, [answer(8, 15, 1)], 'rr')).to.equal(null);
  });
});
