import { startRedis, type TestRedis } from '@device-insights/fanout/test-redis';
import { expect } from 'chai';
import { eventually } from './eventually.js';
import { type FakeTime, fakeTime } from './fake-time.js';
import { Running, temporaryFolder } from './running.js';

const HOUR_MS = 3_600_000;

describe('three gateways, one of which has a clock that is an hour ahead', function () {
  this.timeout(120_000); // The first run may have to install libfaketime.
  const folder = temporaryFolder();
  let redis: TestRedis;
  let time: FakeTime;
  let right: Running[] = [];
  let wrong: Running;

  before(async () => {
    redis = await startRedis();
    time = fakeTime();
    const env = { DATA_DIR: folder.path, REDIS_URL: redis.url, METRICS_PORT: '0' };
    right = [await Running.start(env), await Running.start(env)];
    wrong = await Running.start({ ...env, ...time.env });
  });
  after(async () => {
    for (const gateway of [...right, wrong]) await gateway?.end('SIGKILL');
    await redis?.stop();
    time?.remove();
    folder.remove();
  });

  const metric = (gateway: Running, name: string) => gateway.metric(`device_insights_${name}`);
  const well = (gateway: Running) => async () => (await gateway.healthz()) === 200;

  it('name this one in its health, its metrics and its log, and none of the others', async () => {
    for (const gateway of [...right, wrong]) await eventually('it is healthy', well(gateway));
    time.step(HOUR_MS);
    await eventually('its clock is found to be wrong', async () => !(await well(wrong)()));
    expect((await wrong.health()).reason).to.equal('ingest: the clock of this gateway is wrong');
    expect(await (await fetch(`${wrong.operationsUrl}/healthz`)).text()).to.match(
      /is wrong: 3[56]\d\d s ahead of most/,
    );
    expect(await wrong.check('readyz')).to.equal(503);
    expect(await metric(wrong, 'clock_error_seconds')).to.be.closeTo(HOUR_MS / 1000, 5);
    expect(await metric(wrong, 'part_works{part="clock"}')).to.equal(0);
    expect(wrong.log).to.include('the clock of this gateway is wrong');
    for (const gateway of right) {
      expect(await gateway.fault()).to.equal('');
      for (const name of ['clock_error_seconds', 'clock_behind_seconds'])
        expect(await metric(gateway, name)).to.equal(0);
      expect(gateway.log).not.to.include('is wrong').and.not.to.include('is behind');
    }
    time.step(-HOUR_MS);
    await eventually('it is healthy again', well(wrong));
    expect(await metric(wrong, 'clock_error_seconds')).to.equal(0);
  });
});
