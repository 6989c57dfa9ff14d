import { simulate } from '@device-insights/sdk/simulator';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { connect, makeModel, sendFrames } from '../wearable.js';
import { Desk } from './desk.js';

describe('the dashboard of a gateway that does not answer', () => {
  let desk: Desk;
  before(async () => {
    desk = await Desk.open();
  });
  after(() => desk?.close());

  const freeze = (frozen: boolean) => process.kill(desk.service.pid, frozen ? 'SIGSTOP' : 'SIGCONT');
  const colours = (page: Page) =>
    page.evaluate<string[]>(
      "[...new Set([...document.querySelectorAll('main .badge')].map((it) => getComputedStyle(it).color))]",
    );

  it('says in a dialog that a change is waiting for its answer', async () => {
    const page = await desk.signedIn('/accounts');
    await page.route('**/dashboard/api/accounts', (route) => {
      if (route.request().method() === 'GET') return route.continue(); // The others get no answer.
    });
    await page.getByRole('button', { name: 'New account' }).click();
    await page.getByLabel('Name').fill('ward 7');
    await page.getByRole('button', { name: 'Create account' }).click();
    await page.getByRole('dialog').getByText('The service has not answered yet').waitFor();
    await page.context().close();
  });

  it('shows a gateway as up if it answers, even if it cannot write a heartbeat', async () => {
    const page = await desk.adminPage();
    await page.route('**/dashboard/api/node', async (route) => {
      const node = (await (await route.fetch()).json()) as { gateway: string };
      const beat = new Date(Date.now() - 60_000).toISOString();
      const gateways = [node.gateway, 'other'].map((id) => ({ id, beat }));
      await route.fulfill({ json: { ...node, gateways } });
    });
    await page.goto(`${desk.service.url}/dashboard/health`);
    await page.getByRole('row', { name: /this gateway Up 1 minute ago/ }).waitFor();
    await page.getByRole('row', { name: 'other No heartbeat 1 minute ago' }).waitFor();
    await page.context().close();
  });

  // The last one, because it ends the service.
  it('shows no state as good while the service hangs or is down, and all of them again when it answers', async () => {
    const source = simulate({ seconds: 20 });
    const { socket } = await connect(desk.service, 'band-1', await makeModel(desk.service, source));
    await sendFrames(socket, source, Date.now() - 20_000, 0, 20);
    const health = await desk.signedIn('/health');
    const account = `${desk.service.url}/dashboard/a/${await desk.account(health)}`;
    const [devices, live] = [await health.context().newPage(), await health.context().newPage()];
    await devices.goto(`${account}/devices`);
    await live.goto(`${account}/live`);
    const good = async () => {
      await health.locator('.page-head').getByText('Up', { exact: true }).waitFor();
      await health.getByRole('cell', { name: 'Up', exact: true }).waitFor();
      await devices.getByText('In session').waitFor();
      await live.getByRole('status').getByText('Live').waitFor();
    };
    await good();
    const [green] = await colours(health);
    freeze(true);
    try {
      for (const page of [health, devices])
        await page.getByText(/^The service does not answer: .* Below is the state of /).waitFor();
      await live.getByText('The service does not answer').waitFor();
      await health.locator('.page-head').getByText('Unknown', { exact: true }).waitFor();
      expect(await health.locator('.page-head').getByText('Up', { exact: true }).count()).to.equal(0);
      for (const page of [health, devices]) expect(await colours(page)).to.not.include(green);
      await health.getByRole('row', { name: /this gateway.* \d+ seconds ago/ }).waitFor();
      await devices.getByRole('row', { name: /band-1.* \d+ seconds ago/ }).waitFor();
    } finally {
      freeze(false);
    }
    await good();
    expect(await health.getByRole('alert').count()).to.equal(0);
    await desk.service.end('SIGKILL');
    await health.locator('.page-head').getByText('Unknown', { exact: true }).waitFor();
    await live.getByText('Disconnected: reconnecting').waitFor();
    expect(await colours(health)).to.not.include(green);
  });
});
