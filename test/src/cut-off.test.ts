import { Line } from '@device-insights/gateway/test-line';
import { simulate } from '@device-insights/sdk/simulator';
import { expect } from 'chai';
import { eventually } from './eventually.js';
import { MongoServer } from './reliability/mongo-server.js';
import { Running } from './running.js';
import { acknowledged, connect, makeModel, sendFrames } from './wearable.js';

const GRACE_MS = 5000;
const CUT_MS = 60_000;

describe('a gateway that is cut off from MongoDB until another one takes it for dead', () => {
  let mongo: MongoServer;
  let line: Line;
  let gateways: Running[] = [];

  beforeEach(async function () {
    this.timeout(600_000); // The first run may have to install the server.
    mongo = await MongoServer.start();
    line = await Line.to(mongo.uri);
    for (const uri of [line.uri, mongo.uri])
      gateways.push(await Running.start({ MONGODB_URI: uri, SESSION_GRACE_MS: `${GRACE_MS}` }));
  });
  afterEach(async () => {
    for (const gateway of gateways) await gateway.end('SIGKILL');
    gateways = [];
    await line?.close();
    await mongo?.close();
  });

  it('stores the data that it has acknowledged, and its device continues in another session', async function () {
    this.timeout(3 * CUT_MS);
    const [one, two] = gateways as [Running, Running];
    const source = simulate({ seconds: 30 });
    const rate = source.deviceModel.modality_channels[0]?.sample_rate_hz ?? Number.NaN;
    const modelId = await makeModel(one, source);
    const epoch = Date.now() - 30_000;
    const first = await connect(one, 'patient', modelId);
    const path = `/v1/sessions/${first.ready.session_id}`;
    const windows = async () => {
      const { body } = await two.call<{ type: string; actual_end: number }[]>('GET', `${path}/insights`);
      return body.filter(({ type }) => type === 'hr').map(({ actual_end }) => Math.round((actual_end - epoch) / 1000));
    };
    await sendFrames(first.socket, source, epoch, 0, 10);
    await eventually('the readings so far are stored', async () => (await windows()).at(-1) === 10);

    line.silence();
    await sendFrames(first.socket, source, epoch, 10, 14);
    await first.socket.until((message) => acknowledged(message) >= 14 * rate);
    const status = async () => (await two.call<{ status: string }>('GET', path)).body.status;
    await eventually('the other gateway closes the session', async () => (await status()) === 'closed', CUT_MS);
    line.mend();

    const { code, reason } = await first.socket.closed();
    expect(await windows(), `closed with ${code} ${reason}`).to.deep.equal(Array.from({ length: 11 }, (_, i) => i + 4));
    expect(code).to.equal(1013);
    // Until its next heartbeat the other gateway may take it for dead, and close this session as well.
    await eventually('its device goes on in another session', async () => {
      const { socket, ready } = await connect(one, 'patient', modelId);
      await sendFrames(socket, source, epoch, 14, 30);
      socket.send({ type: 'end' });
      await socket.until(({ type }) => type === 'ended');
      return !ready.resumed && ready.replay_ms === 0;
    });
  });
});
