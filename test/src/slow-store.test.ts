import { simulate } from '@device-insights/sdk/simulator';
import { expect } from 'chai';
import { eventually } from './eventually.js';
import { MongoServer } from './reliability/mongo-server.js';
import { Running } from './running.js';
import { acknowledged, connect, makeModel, sendFrames, subscribe } from './wearable.js';

interface Stored {
  readonly type: string;
  readonly ts: number;
}

describe('a gateway whose MongoDB stalls from time to time', () => {
  let mongo: MongoServer;
  let gateway: Running;

  beforeEach(async function () {
    this.timeout(600_000); // The first run may have to install the server.
    mongo = await MongoServer.start();
    gateway = await Running.start({ MONGODB_URI: mongo.uri });
  });
  afterEach(async () => {
    await gateway?.end('SIGKILL');
    await mongo?.close();
  });

  it('acknowledges and answers meanwhile, and delivers every reading when the server continues', async () => {
    const source = simulate({ seconds: 30 });
    const rate = source.deviceModel.modality_channels[0]?.sample_rate_hz ?? Number.NaN;
    const modelId = await makeModel(gateway, source);
    const epoch = Date.now() - 30_000;
    const app = await subscribe(gateway);
    const { socket, ready } = await connect(gateway, 'patient', modelId);
    const shown: string[] = [];
    const show = async () => {
      const { type, ts } = await app.next();
      shown.push(`${type} ${ts}`);
    };
    const showRates = async (count: number) => {
      while (shown.filter((it) => it.startsWith('hr ')).length < count) await show();
    };
    await sendFrames(socket, source, epoch, 0, 10);
    // A back-fill waits for the server if what it sent ten seconds of data before is not stored and published.
    await showRates(6);
    for (let from = 10; from < 30; from += 5) {
      mongo.freeze(true);
      await sendFrames(socket, source, epoch, from, from + 5);
      await socket.until((message) => acknowledged(message) >= (from + 4) * rate);
      socket.send({ type: 'ping', t: from });
      expect(await socket.until(({ type }) => type === 'pong')).to.include({ t: from });
      await app.pong();
      mongo.freeze(false);
      await showRates(from + 1);
    }
    socket.send({ type: 'end' });
    await socket.until(({ type }) => type === 'ended');
    const { body: stored } = await gateway.call<Stored[]>('GET', `/v1/sessions/${ready.session_id}/insights`);
    expect(stored.filter(({ type }) => type === 'hr').length).to.equal(27);
    while (shown.length < stored.length) await show();
    expect(shown.sort()).to.deep.equal(stored.map(({ type, ts }) => `${type} ${ts}`).sort());
    await eventually('it is healthy', async () => (await gateway.health()).ok);
    app.close();
  });
});
