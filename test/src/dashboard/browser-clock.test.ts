import { expect } from 'chai';
import { eventually } from '../eventually.js';
import { Desk, fakeFeed } from './desk.js';
import { readings } from './wall.js';

const HOUR_MS = 3_600_000;

describe('the dashboard in a browser whose clock is wrong', () => {
  let desk: Desk;
  before(async () => {
    desk = await Desk.open();
  });
  after(() => desk?.close());

  for (const [what, offMs] of [
    ['an hour fast', HOUR_MS],
    ['a year slow', -8760 * HOUR_MS],
  ] as const)
    it(`takes a key when it connects, and the next one after seven minutes, if the clock is ${what}`, async () => {
      const page = await desk.signedIn();
      const account = await desk.account(page);
      let keys = 0;
      page.on('request', (request) => {
        if (request.url().endsWith('/live-key')) keys += 1;
      });
      await page.clock.install({ time: Date.now() + offMs });
      await page.goto(`${desk.service.url}/dashboard/a/${account}/live`);
      const state = page.getByRole('status');
      await state.getByText('Live').waitFor();
      await page.clock.fastForward(400_000);
      await page.reload(); // The timers that were due have run.
      await state.getByText('Live').waitFor();
      expect(keys, 'the first key, and that of the reloaded page').to.equal(2);
      await page.clock.fastForward(430_000);
      await eventually('the key is renewed', () => keys === 3);
      await page.close();
    });

  it('shows the age of readings by the clock of the service', async () => {
    const page = await desk.signedIn();
    const send = await fakeFeed(page);
    await page.clock.install({ time: Date.now() + HOUR_MS });
    await page.goto(`${desk.service.url}/dashboard/a/${await desk.account(page)}/live`);
    await page.getByRole('status').getByText('Live').waitFor();
    await eventually('a device that streams is live', async () => {
      for (const reading of readings(1, 60)) send(reading);
      return (await page.locator('.tile .age').textContent({ timeout: 1000 })) === 'live';
    });
    await page.close();
  });
});
