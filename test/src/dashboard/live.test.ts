import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { eventually } from '../eventually.js';
import { Desk, fakeFeed } from './desk.js';
import { DEVICES, readings, showWall } from './wall.js';

/** What an animation frame did: the callbacks that waited for it, and the devices whose tiles it changed. */
interface Frame {
  readonly callbacks: number;
  readonly changed: readonly string[];
}

const ALL = [...Array(DEVICES).keys()];
const HOUR_MS = 3_600_000;

describe('the live readings on the dashboard', () => {
  let desk: Desk;
  before(async () => {
    desk = await Desk.open();
  });
  after(() => desk?.close());

  describe('on a wall of a hundred devices', () => {
    let page: Page;
    let send: (reading: object) => void;

    before(async () => {
      page = await desk.signedIn();
      send = await fakeFeed(page);
      await showWall(page, desk, send);
      await page.evaluate(BY_HAND);
      await framesOf(ALL, 61);
    });
    after(() => page?.close());

    /** Sends readings of devices, and returns the frames until all of them show this heart rate. */
    async function framesOf(devices: readonly number[], heartRate: number): Promise<Frame[]> {
      for (const n of devices) for (const reading of readings(n, heartRate)) send(reading);
      const frames: Frame[] = [];
      await eventually('all are drawn', async () => {
        frames.push((await page.evaluate('frame()')) as Frame);
        const shown = page.locator('[data-type="hr"] .value').getByText(`${heartRate}`, { exact: true });
        return (await shown.count()) === devices.length;
      });
      return frames;
    }

    it('change the tile alone of the device that has a reading', async () => {
      const frames = await framesOf([7], 62);
      expect(new Set(frames.flatMap(({ changed }) => changed))).to.deep.equal(new Set(['bed-7']));
    });

    it('are drawn in several frames, each with one callback of a few milliseconds', async () => {
      const frames = await framesOf(ALL, 63);
      for (const { callbacks, changed } of frames) {
        expect(callbacks).to.be.at.most(1);
        expect(changed.length).to.be.at.most(7);
      }
      expect(new Set(frames.flatMap(({ changed }) => changed))).to.have.property('size', DEVICES);
    });
  });

  describe('in a browser whose clock is wrong', () => {
    for (const [what, offMs] of [
      ['an hour fast', HOUR_MS],
      ['a year slow', -8760 * HOUR_MS],
    ] as const)
      it(`take a key when they connect, and the next one after seven minutes, if the clock is ${what}`, async () => {
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

    it('show their age by the clock of the service', async () => {
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
});

/** Animation frames by hand, on a clock that each look sets forward by 1 ms, as if drawing a tile took that long. */
const BY_HAND = `{
  const waiting = [];
  let now = 0;
  window.requestAnimationFrame = (callback) => waiting.push(callback);
  performance.now = () => ++now;
  const watcher = new MutationObserver(() => undefined);
  watcher.observe(document.querySelector('.wall'), { subtree: true, childList: true, characterData: true, attributes: true });
  const tile = ({ target }) => (target.parentElement ?? target).closest('.tile')?.ariaLabel;
  window.frame = () => {
    watcher.takeRecords();
    const callbacks = waiting.splice(0);
    for (const callback of callbacks) callback(now);
    return { callbacks: callbacks.length, changed: [...new Set(watcher.takeRecords().map(tile))] };
  };
}`;
