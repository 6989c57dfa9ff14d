import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { fileOf } from '../server-process.js';
import { withFigures } from './page.js';

describe('RELIABILITY.md', () => {
  it('gets new figures into their own section, and keeps all other text', () => {
    const page = readFileSync(fileOf('RELIABILITY.md'), 'utf8');
    const figures = { seed: 7, frames: 12_345, decoded: 11, taken: 10, refused: { too_late: 1 }, seconds: 2 };
    const changed = withFigures(page, 'decoder', { ...figures, heapBefore: 2 ** 20, heapAfter: 2 ** 20 });
    const others = (text: string) => text.split(/(?=^## )/m).filter((it) => !it.startsWith('## Decoder'));
    expect(changed).to.include('12,345 frames (a tenth of them text) in 2 s, seed 7');
    expect(others(changed)).to.deep.equal(others(page));
    expect(others(page)).to.have.length.greaterThan(6);
  });
});
