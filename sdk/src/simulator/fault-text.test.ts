import { expect } from 'chai';
import { parseFaults } from './fault-text.js';

describe('faults in text', () => {
  it('are shares, amounts and episodes', () => {
    expect(parseFaults(['dropped=0.05', 'jitterMs=4', 'driftPpm=-20', 'motion@20-40', 'noise@5-9.5*3'])).to.deep.equal({
      dropped: 0.05,
      jitterMs: 4,
      driftPpm: -20,
      episodes: [
        { kind: 'motion', from: 20, until: 40 },
        { kind: 'noise', from: 5, until: 9.5, strength: 3 },
      ],
    });
  });

  it('are refused if unknown or out of range, with the known ones', () => {
    for (const text of ['dropped=2', 'dropped', 'quake@1-2', 'motion@1', 'jitterMs=x', 'late=1.2.3'])
      expect(() => parseFaults([text]), text).to.throw(RangeError, 'the faults are dropped=SHARE');
  });
});
