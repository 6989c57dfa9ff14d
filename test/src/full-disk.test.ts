import { simulate } from '@device-insights/sdk/simulator';
import { expect } from 'chai';
import { eventually } from './eventually.js';
import { Disk } from './reliability/disk.js';
import { Running } from './running.js';
import { makeModel } from './wearable.js';

describe('a gateway whose disk is full', () => {
  it('restarts, serves stored data, and works again when there is space', async function () {
    const disk = Disk.mount();
    if (!disk) return this.skip(); // Only root can mount one.
    const env = { DATA_DIR: `${disk.path}/data` };
    let gateway = await Running.start(env);
    try {
      const model = await makeModel(gateway, simulate());
      await gateway.end('SIGTERM');
      disk.fill();
      gateway = await Running.start(env);
      expect((await gateway.call('GET', `/v1/device-models/${model}`)).status).to.equal(200);
      await eventually('the fault is found', async () => !(await gateway.health()).ok);
      const advice = 'free space on the disk of the data directory (DATA_DIR)';
      await eventually('the log says what to do', () => gateway.log.includes(advice));
      disk.relieve();
      await eventually('it works', async () => (await gateway.health()).ok);
    } finally {
      await gateway.end('SIGKILL');
      disk.unmount();
    }
  });
});
