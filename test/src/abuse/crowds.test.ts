import { Raw, upgradeOf } from '@device-insights/fanout/platform/raw.fixture';
import { startRedis, type TestRedis } from '@device-insights/fanout/test-redis';
import { simulate } from '@device-insights/sdk/simulator';
import { expect } from 'chai';
import { eventually } from '../eventually.js';
import { startFanoutNode } from '../fanout-node.js';
import { Running, temporaryFolder } from '../running.js';
import type { ServerProcess } from '../server-process.js';
import { connect, makeModel, sendFrames, subscribe } from '../wearable.js';

const source = simulate({ seconds: 30 });
/** Few, so that a test can use them up; a process reserves half of such a low limit for itself. */
const DESCRIPTORS = 400;
const FULL = /too many connections/g;

describe('a crowd of strangers', () => {
  let redis: TestRedis;
  let folder: ReturnType<typeof temporaryFolder>;
  let gateway: Running;
  let node: ServerProcess;
  let crowd: Raw[];

  before(async function () {
    this.timeout(600_000); // The first run may have to install the server.
    redis = await startRedis();
  });
  after(() => redis?.stop());
  beforeEach(async () => {
    folder = temporaryFolder();
    crowd = [];
    const env = { DATA_DIR: folder.path, REDIS_URL: redis.url, METRICS_PORT: '0' };
    gateway = await Running.start(env, DESCRIPTORS);
    node = await startFanoutNode({ REDIS_URL: redis.url }, DESCRIPTORS);
  });
  afterEach(async () => {
    for (const { socket } of crowd) socket.destroy();
    await Promise.all([gateway.end('SIGKILL'), node.end('SIGKILL')]);
    folder.remove();
  });

  const come = async (place: ServerProcess, many: number, sent: string) => {
    crowd.push(...(await Promise.all(Array.from({ length: many }, () => Raw.at(place.url, sent)))));
  };

  for (const [what, sent, isAdmittedAgain] of [
    ['headers that do not end', 'GET /v1/algos HTTP/1.1\r\nHost: x\r\nX-Slow: ', false],
    ['bodies that do not end', 'POST /v1/device-models HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{', false],
    ['upgrades of no socket', upgradeOf('/x'), true],
    ['upgrades without a key', upgradeOf('/stream/subscribe'), false],
  ] as const) {
    it(`with ${what} stops neither devices and subscribers nor the operations port, and is logged once${isAdmittedAgain ? '; a moment later others are served' : ''}`, async () => {
      const { socket } = await connect(gateway, 'in-the-crowd', await makeModel(gateway, source));
      const apps = [await subscribe(gateway), await subscribe(node)];
      for (const place of [gateway, node]) await come(place, 2 * DESCRIPTORS, sent);
      for (const place of [gateway, node]) {
        expect(await place.fault()).to.equal('');
        await eventually('that is logged', () => place.log.match(FULL) !== null);
        expect(place.log.match(FULL), place.log).to.have.length(1);
      }
      await sendFrames(socket, source, Date.now() - 30_000, 0, 12);
      await socket.until(({ type, next_seq }) => type === 'ack' && Object.keys(next_seq as object).length > 0);
      for (const app of apps) expect(await app.next()).to.include({ device_id: 'in-the-crowd' });
      // Although no peer closes.
      for (const place of isAdmittedAgain ? [gateway, node] : [])
        await eventually('a newcomer is served', async () => (await fetch(`${place.url}/x`)).status === 404, 5000);
    });
  }
});
