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

describe('the wall of live devices', () => {
  let desk: Desk;
  let page: Page;
  let send: (reading: object) => void;

  before(async () => {
    desk = await Desk.open();
    page = await desk.signedIn();
    send = await fakeFeed(page);
    await showWall(page, desk, send);
    await page.evaluate(BY_HAND);
    await framesOf(ALL, 61);
  });
  after(() => desk?.close());

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

  it('changes the tile alone whose device has a reading', async () => {
    const frames = await framesOf([7], 62);
    expect(new Set(frames.flatMap(({ changed }) => changed))).to.deep.equal(new Set(['bed-7']));
  });

  it('draws a hundred devices in several frames, each with one callback of a few milliseconds', async () => {
    const frames = await framesOf(ALL, 63);
    for (const { callbacks, changed } of frames) {
      expect(callbacks).to.be.at.most(1);
      expect(changed.length).to.be.at.most(7);
    }
    expect(new Set(frames.flatMap(({ changed }) => changed))).to.have.property('size', DEVICES);
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
