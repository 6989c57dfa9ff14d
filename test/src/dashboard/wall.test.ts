import { expect } from 'chai';
import { Desk, fakeFeed } from './desk.js';

const DEVICES = 100;
/**
 * Number of windows that are measured until one is undisturbed: other processes of the machine can disturb any of them.
 */
const WINDOWS = 8;
const WINDOW_MS = 2500;

describe('the wall of live devices', function () {
  this.timeout(120_000);

  it('shows a hundred of them at 60 frames a second, without a task of more than 50 ms', async () => {
    const desk = await Desk.open();
    const page = await desk.page();
    const send = await fakeFeed(page);
    let timer: NodeJS.Timeout | undefined;
    try {
      await page.goto(`${desk.service.url}/dashboard`);
      await page.getByLabel('Password').fill('correct horse battery staple');
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByRole('link', { name: 'Live' }).click();
      await page.getByRole('status').getByText('Live').waitFor();
      let n = 0;
      // Each device has three readings a second, as real ones have.
      timer = setInterval(() => {
        for (let i = 0; i < DEVICES / 10; i++, n++) {
          const bed = { device_id: `bed-${n % DEVICES}`, session_id: '0', confidence: 0.9, sqi_class: 'excellent' };
          const at = { ...bed, ts: Date.now() };
          send({ ...at, type: 'hr', value: 60 + (n % 37), unit: 'bpm' });
          send({ ...at, type: 'spo2', value: 95 + (n % 4), unit: '%' });
          send({ ...at, type: 'rr', value: 12 + (n % 7), unit: 'brpm' });
        }
      }, 100);
      await page
        .locator('.tile')
        .nth(DEVICES - 1)
        .waitFor();
      const measured: { fps: number; longest: number }[] = [];
      for (let i = 0; i < WINDOWS; i++) {
        const found = (await page.evaluate(MEASURE)) as { fps: number; longest: number };
        measured.push(found);
        if (found.fps >= 57 && found.longest <= 50) break;
      }
      console.log(`      ${measured.map(({ fps, longest }) => `${fps.toFixed(1)} fps, ${longest} ms`).join('; ')}`);
      expect(measured.at(-1)?.longest).to.be.at.most(50);
      expect(measured.at(-1)?.fps).to.be.at.least(57);
    } finally {
      clearInterval(timer);
      await desk.close();
    }
  });
});

/** Frames per second, and the longest task (Long Tasks API; 0 if none took more than 50 ms). */
const MEASURE = `new Promise((resolve) => {
  let frames = 0, longest = 0;
  const observer = new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) longest = Math.max(longest, duration);
  });
  observer.observe({ type: 'longtask' });
  const begun = performance.now();
  const frame = (now) => {
    frames++;
    if (now - begun < ${WINDOW_MS}) requestAnimationFrame(frame);
    else { observer.disconnect(); resolve({ fps: (frames * 1000) / (now - begun), longest }); }
  };
  requestAnimationFrame(frame);
})`;
