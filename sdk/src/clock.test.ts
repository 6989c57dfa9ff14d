import { getEventListeners } from 'node:events';
import { expect } from 'chai';
import { pause, systemClock } from './clock.js';

describe('a pause', () => {
  it('ends when its signal aborts, and leaves nothing on one that outlives it', async () => {
    const abort = new AbortController();
    await pause(systemClock, 0, abort.signal);
    expect(getEventListeners(abort.signal, 'abort')).to.deep.equal([]);
    const long = pause(systemClock, 3_600_000, abort.signal);
    abort.abort();
    await long;
    await pause(systemClock, 3_600_000, abort.signal);
  });
});
