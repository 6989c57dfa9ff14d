import { expect } from 'chai';
import { heapGrowth } from './allocation.js';

describe('allocation', () => {
  it('leaves nothing on the heap for a push', async () => {
    // A single float object for each would be 12 MB; what the engine leaves beside them does not grow with the pushes
    expect(await heapGrowth(1_000_000)).to.be.below(1_000_000);
  });
});
