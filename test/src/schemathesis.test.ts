import { simulate } from '@device-insights/sdk/simulator';
import { expect } from 'chai';
import { KEY, Running, temporaryFolder } from './running.js';
import { fuzz } from './schemathesis.js';
import { connect, makeModel, sendFrames } from './wearable.js';

const source = simulate({ seconds: 20 });

describe('the REST interface, by its OpenAPI document', function () {
  this.timeout(900_000); // The first run installs schemathesis.
  const folder = temporaryFolder();
  let gateway: Running;

  before(async () => {
    gateway = await Running.start({ DATA_DIR: folder.path });
  });
  after(async () => {
    await gateway?.end('SIGKILL');
    folder.remove();
  });

  it('passes all checks of schemathesis', async () => {
    const modelId = await makeModel(gateway, source);
    const { socket, ready } = await connect(gateway, 'band', modelId);
    await sendFrames(socket, source, Date.now() - 20_000, 0, 20);
    socket.send({ type: 'end' });
    await socket.until((message) => message.type === 'ended');
    const { body: channels } = await gateway.call<{ ch_id: string }[]>(
      'GET',
      `/v1/device-models/${modelId}/modalities`,
    );
    const report = await fuzz({
      url: gateway.url,
      key: KEY,
      folder: folder.path,
      seed: 20_261_122,
      maxSeconds: 840,
      modelId,
      channelId: channels[0]?.ch_id ?? '',
      sessionId: ready.session_id,
    });
    expect(report).to.match(/Operations: +19 selected/);
    expect(report).not.to.include('Missing test data');
    const lines = gateway.log.split('\n').filter((line) => line !== '' && !line.includes('a device was refused'));
    expect(lines).to.deep.equal([]);
  });
});
