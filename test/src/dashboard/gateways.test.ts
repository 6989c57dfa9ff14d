import { startRedis, type TestRedis } from '@device-insights/fanout/test-redis';
import { simulate } from '@device-insights/sdk/simulator';
import { expect } from 'chai';
import { eventually } from '../eventually.js';
import { Running } from '../running.js';
import { connect, makeModel, sendFrames } from '../wearable.js';
import { Desk } from './desk.js';

describe('the dashboard of two gateways', () => {
  let redis: TestRedis;
  let desk: Desk;
  let other: Running;
  before(async function () {
    this.timeout(300_000);
    redis = await startRedis();
    desk = await Desk.open({ REDIS_URL: redis.url });
    other = await Running.start({ DATA_DIR: desk.folder.path, REDIS_URL: redis.url, DASHBOARD: 'on' });
  });
  after(async () => {
    await other?.end('SIGKILL');
    await desk?.close();
    await redis?.stop();
  });

  it('has one sign-in, and a key that one gateway revokes is refused by the other at once', async () => {
    const page = await desk.signedIn();
    const account = await desk.account(page);
    await page.goto(`${other.url}/dashboard/a/${account}/keys`);
    await page.getByRole('row', { name: /whole account/i }).waitFor();
    const post = { headers: { 'X-Dashboard': '1', Origin: desk.service.url }, data: { user: 'ann' } };
    const made = await page.request.post(`${desk.service.url}/dashboard/api/accounts/${account}/keys`, post);
    const { id, key } = (await made.json()) as { id: string; key: string };
    expect((await other.call('GET', '/v1/algos', undefined, key)).status).to.equal(200);
    await page.request.post(`${desk.service.url}/dashboard/api/keys/${id}/revoke`, post);
    expect((await other.call('GET', '/v1/algos', undefined, key)).status).to.equal(401);
    await page.context().close();
  });

  it('shows on one gateway the state of a device at the other, including its signal', async () => {
    const source = simulate({ seconds: 40 });
    const { socket } = await connect(desk.service, 'far-1', await makeModel(desk.service, source));
    await sendFrames(socket, source, Date.now() - 40_000, 0, 20);
    const page = await desk.signedIn();
    await page.goto(`${other.url}/dashboard/a/${await desk.account(page)}/devices/far-1`);
    await page.getByText(/^Connected for/).waitFor();
    await page.getByText('Waiting for samples').waitFor();
    await sendFrames(socket, source, Date.now() - 40_000, 20, 30);
    await page.getByRole('slider', { name: 'Signal of ppg_green' }).waitFor();
    await page.goto(`${other.url}/dashboard/health`);
    await eventually(
      'both gateways up',
      async () => (await page.getByRole('cell', { name: 'Up', exact: true }).count()) === 2,
    );
    await page.context().close();
  });

  it('says once why a gateway without Redis lacks the live insights of the others, as its health and its log do', async () => {
    const alone = await Running.start({ DATA_DIR: desk.folder.path, DASHBOARD: 'on' });
    try {
      const page = await desk.signedIn();
      await page.goto(`${alone.url}/dashboard/health`);
      await page.getByRole('alert').waitFor();
      expect(await page.getByRole('alert').allTextContents()).to.deep.equal([
        'subscribe: the live insights of other gateways are missing: several gateways use this store, but no Redis connects them: set REDIS_URL',
      ]);
      await page.context().close();
      expect(await alone.health()).to.include({ ok: false, ingest: true, subscribe: false });
      await eventually('the log says so', () => alone.log.includes('set REDIS_URL'));
    } finally {
      await alone.end('SIGKILL');
    }
  });
});
