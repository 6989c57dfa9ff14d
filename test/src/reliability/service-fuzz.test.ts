import { expect } from 'chai';
import { fuzzService } from './service-fuzz.js';

const SEED = 20_260_117;
const MS = 15_000;

describe('the whole service, fuzzed', () => {
  it('stays healthy, shows nobody the data of others, and gives correct readings for a correct device', async () => {
    const { failures, ...figures } = await fuzzService({ seed: SEED, ms: MS });
    const { frames, connections, requests } = figures;
    console.log(`      seed ${SEED}: ${frames} frames, ${connections} connections, ${requests} requests`);
    expect(failures, JSON.stringify(figures)).to.deep.equal([]);
  });
});
