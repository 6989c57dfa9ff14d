import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { startTestMongo, type TestMongo } from '@device-insights/gateway/test-mongo';
import { dump, restore } from '@device-insights/gateway/test-mongo-dump';
import { DeviceInsights } from '@device-insights/sdk';
import { play, simulate } from '@device-insights/sdk/simulator';
import { expect } from 'chai';
import { eventually } from './eventually.js';
import { KEY, Running, run, temporaryFolder } from './running.js';

const ADMIN = 'gateway/dist/package/admin.js';

/** Everything that an app of the account can read. */
async function readingsOf(service: Running) {
  const client = new DeviceInsights({ baseUrl: service.url, apiKey: KEY });
  const sessions = [];
  for await (const session of client.sessions.list()) sessions.push(session);
  const insights = await Promise.all(sessions.map(({ id }) => client.sessions.insights(id)));
  return { models: await client.deviceModels.list(), sessions, insights };
}

/** Streams the simulator for some seconds of data, at once. */
async function stream(service: Running, deviceId: string, seconds: number): Promise<void> {
  const source = simulate({ seconds });
  const client = new DeviceInsights({ baseUrl: service.url, apiKey: KEY });
  const { id } = await client.deviceModels.create(source.deviceModel);
  const device = client.device({ deviceId, deviceModelId: id });
  await play(source, device, { speed: Number.POSITIVE_INFINITY, startTime: Date.now() - seconds * 1000 });
  await device.end();
}

describe('a backup of the embedded store', () => {
  const root = temporaryFolder();
  const data = `${root.path}/data`;
  const env = { DATA_DIR: data };
  let folder: string;
  let file: string;
  let service: Running;

  const admin = (...words: string[]) => run(ADMIN, words, env);

  before(async () => {
    service = await Running.start(env);
  });
  beforeEach(() => {
    folder = mkdtempSync(`${root.path}/`);
    file = `${folder}/backup.db`;
  });
  after(async () => {
    await service.end('SIGKILL');
    root.remove();
  });

  it('is made while a device streams, and restores the data that the SDK read before', async () => {
    await stream(service, 'band', 30);
    const before = await readingsOf(service);
    expect(before.insights.flat().length).to.be.greaterThan(30);
    const streaming = stream(service, 'band-2', 120);
    const made = await admin('backup', file);
    expect(made).to.deep.equal({ code: 0, stdout: `${JSON.stringify({ file })}\n`, stderr: '' });
    expect(statSync(file).mode & 0o777).to.equal(0o600);
    await streaming;
    await service.end('SIGTERM');

    rmSync(data, { recursive: true });
    expect(await admin('restore', file)).to.include({ code: 0, stderr: '' });
    service = await Running.start(env);
    const { models, sessions, insights } = await readingsOf(service);
    const old = sessions.flatMap((session, i) =>
      session.device_id === 'band' ? [{ session, insights: insights[i] }] : [],
    );
    expect(old).to.deep.equal([{ session: before.sessions[0], insights: before.insights[0] }]);
    expect(models).to.deep.include(before.models[0]);
    await stream(service, 'band', 12);
    await eventually('the service goes on', async () => (await readingsOf(service)).sessions.length > sessions.length);
  });

  it('never overwrites a file or a store, and leaves no incomplete file', async () => {
    expect((await admin('backup', file)).code).to.equal(0);
    expect((await admin('backup', file)).stderr).to.match(/backup\.db exists, and is never replaced: choose another/);
    expect((await admin('restore', file)).stderr).to.match(/device-insights\.db exists/);
    expect((await service.health()).ok).to.equal(true);
    expect(readdirSync(folder)).to.deep.equal(['backup.db']);
  });

  it('says what to do where it cannot be written', async () => {
    const { code, stderr } = await admin('backup', `${folder}/none/backup.db`);
    expect(code).to.equal(1);
    expect(stderr).to.match(/none\/backup\.db cannot be made: make its folder first, .*ENOENT[^\n]*\n$/);
    await admin('backup', file);
    const inFile = `${file}/backup.db`;
    expect((await admin('backup', inFile)).stderr).to.match(
      /backup\.db cannot be made: make its folder first, .*ENOTDIR/,
    );
    expect((await admin('restore', inFile)).stderr).to.equal(`there is no file ${inFile}\n`);
    for (const command of ['backup', 'restore'])
      for (const path of ['', folder])
        expect((await admin(command, path)).stderr).to.match(/^".*" is not the path of a file: give one[^\n]*\n$/);
  });

  it('is refused if there is no store, or if the file is not a backup', async () => {
    const nowhere = { DATA_DIR: `${folder}/nowhere` };
    const none = await run(ADMIN, ['backup', `${folder}/other.db`], nowhere);
    expect(none).to.include({ code: 1, stdout: '' });
    expect(none.stderr).to.match(/^there is no device-insights\.db in .*: check DATA_DIR; [^\n]+\n$/);
    expect(existsSync(nowhere.DATA_DIR)).to.equal(false);
    writeFileSync(`${folder}/text`, 'no database');
    expect((await run(ADMIN, ['restore', `${folder}/text`], nowhere)).stderr).to.match(/damaged, or no backup/);
    expect((await run(ADMIN, ['backup', 'x'], { MONGODB_URI: 'mongodb://nowhere/x' })).stderr).to.match(/mongodump/);
  });
});

describe('a dump of MongoDB', () => {
  let mongo: TestMongo;
  let service: Running | undefined;

  beforeEach(async function () {
    this.timeout(900_000);
    mongo = await startTestMongo();
  });
  afterEach(async () => {
    await service?.end('SIGKILL');
    await mongo?.stop();
  });

  it('of all its documents, made while the service runs, restores the data that the SDK read before', async () => {
    const [lost, found] = [mongo.uri('dumped'), mongo.uri('restored')];
    service = await Running.start({ MONGODB_URI: lost });
    await stream(service, 'band', 30);
    const before = await readingsOf(service);
    const dumped = await dump(lost);
    await service.end('SIGTERM');

    await restore(found, dumped);
    service = await Running.start({ MONGODB_URI: found });
    expect(before.insights.flat().length).to.be.greaterThan(30);
    expect(await readingsOf(service)).to.deep.equal(before);
  });
});
