import { Raw, upgradeOf } from '@device-insights/fanout/platform/raw.fixture';
import { simulate } from '@device-insights/sdk/simulator';
import { expect } from 'chai';
import { eventually } from '../eventually.js';
import { Operator } from '../operator.js';
import { KEY, Running, temporaryFolder } from '../running.js';
import type { RawSocket } from '../socket.js';
import { connect, makeModel, sendFrames, subscribe } from '../wearable.js';

const CROWD = 300;
const BACK_FILLS = 3;
/** Data that each device of the busy account sends at once, s. */
const LENGTH = 400;
/** Far above what the others wait, far below what they waited while one account could keep the event loop, ms. */
const BOUND_MS = 5000;

describe('an account with many subscribers that never read, whose devices send as fast as they can', () => {
  let folder: ReturnType<typeof temporaryFolder>;
  let service: Running;
  let crowd: Raw[] = [];

  beforeEach(async () => {
    folder = temporaryFolder();
    service = await Running.start({ DATA_DIR: folder.path, METRICS_PORT: '0' });
  });
  afterEach(async () => {
    for (const { socket } of crowd) socket.destroy();
    crowd = [];
    await service.end('SIGKILL');
    folder.remove();
  });

  const took = async (task: () => Promise<unknown>) => {
    const begun = performance.now();
    await task();
    return performance.now() - begun;
  };

  it('delays neither the live readings of another account, nor its requests, nor /healthz, and loses nothing', async () => {
    const { key } = await new Operator({ DATA_DIR: folder.path }).issue('quiet');
    const source = simulate({ seconds: 30 });
    const { body: model } = await service.call<{ id: string }>('POST', '/v1/device-models', source.deviceModel, key);
    const app = await subscribe(service, key);
    const quiet = await connect(service, 'quiet', model.id, key);

    const path = upgradeOf(`/stream/subscribe?api_key=${KEY}`);
    crowd = await Promise.all(Array.from({ length: CROWD }, () => Raw.at(service.url, path)));
    for (const { socket } of crowd) socket.pause();
    const connections = 'device_insights_fanout_connections';
    await eventually('all subscribe', async () => (await service.metric(connections)) === CROWD + 1);
    const long = simulate({ seconds: LENGTH });
    const busyModel = await makeModel(service, long);
    const names = Array.from({ length: BACK_FILLS }, (_, i) => `busy-${i}`);
    const busy = await Promise.all(names.map((name) => connect(service, name, busyModel)));
    const flood = Promise.all(busy.map(({ socket }) => backFill(socket)));
    const deliveries = 'device_insights_fanout_deliveries_total';
    await eventually('the flood has begun', async () => (await service.metric(deliveries)) > CROWD);

    await sendFrames(quiet.socket, source, Date.now() - 30_000, 0, 15);
    const waits = [await took(() => app.next())];
    for (let n = 0; n < 20; n++) {
      waits.push(await took(() => service.call('GET', '/v1/sessions', undefined, key)));
      waits.push(await took(async () => expect(await service.fault()).to.equal('')));
    }
    expect(Math.max(...waits)).to.be.lessThan(BOUND_MS);

    await flood;
    for (const { socket } of busy) {
      socket.send({ type: 'end' });
      await socket.until(({ type }) => type === 'ended');
    }
    for (const { ready } of busy) {
      const { body } = await service.call<object[]>('GET', `/v1/sessions/${ready.session_id}/insights`);
      expect(body.length).to.be.greaterThan(2 * (LENGTH - 20));
    }
  });

  async function backFill(socket: RawSocket): Promise<void> {
    await sendFrames(socket, simulate({ seconds: LENGTH }), Date.now() - 3_600_000, 0, LENGTH);
  }
});
