import { renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { simulate } from '@device-insights/sdk/simulator';
import { expect } from 'chai';
import { eventually } from '../eventually.js';
import { Running, temporaryFolder } from '../running.js';
import { connect, makeModel, sendFrames, subscribe } from '../wearable.js';

const source = simulate({ seconds: 40 });

describe('a service whose data are damaged', () => {
  let folder: ReturnType<typeof temporaryFolder>;
  let service: Running;
  const file = () => join(folder.path, 'device-insights.db');

  beforeEach(async () => {
    folder = temporaryFolder();
    service = await Running.start({ DATA_DIR: folder.path, METRICS_PORT: '0' });
  });

  afterEach(async () => {
    await service.end('SIGKILL');
    folder.remove();
  });

  const isSick = async () => !(await service.health()).ingest;

  it('is not healthy, names the part without its path, and tells operators what to do', async () => {
    await makeModel(service, source);
    expect(await service.health()).to.include({ ok: true });
    writeFileSync(file(), Buffer.alloc(statSync(file()).size, 'garbage '));
    await eventually('health is false', isSick);
    expect((await service.health()).reason).to.equal('ingest: the store does not work');
    const operators = await fetch(`${service.operationsUrl}/healthz`);
    expect(operators.status).to.equal(503);
    expect(await operators.text())
      .to.include(file())
      .and.include('restore the data directory from a backup');
    const lines = service.log.split('\n').filter((line) => line.includes('a part of the service does not work'));
    expect(lines).to.have.length(1);
  });

  it('publishes nothing that is not stored, and continues if nothing was lost', async () => {
    const modelId = await makeModel(service, source);
    const app = await subscribe(service);
    const { socket, ready } = await connect(service, 'band', modelId);
    const epoch = Date.now() - 40_000;
    await sendFrames(socket, source, epoch, 0, 10);
    await app.next();
    renameSync(file(), `${file()}.away`);
    await eventually('health is false', isSick);
    await sendFrames(socket, source, epoch, 10, 20);
    await eventually('the insights wait', async () => service.log.includes('they wait'));
    renameSync(`${file()}.away`, file());
    await eventually('health is true', async () => (await service.health()).ok);
    socket.send({ type: 'end' });
    await socket.until((message) => message.type === 'ended');
    const { body } = await service.call<{ type: string; actual_end: number }[]>(
      'GET',
      `/v1/sessions/${ready.session_id}/insights`,
    );
    const ends = body.filter(({ type }) => type === 'hr').map(({ actual_end }) => actual_end);
    expect(ends).to.deep.equal(ends.map((_, i) => (ends[0] ?? 0) + 1000 * i));
    expect(ends.length).to.be.greaterThan(14);
    expect(service.log).not.to.include('dropped');
  });
});
