/**
 * The wall of live devices with a hundred of them, each with three readings a second, beside an empty page of the same
 * browser: animation frames per second and the longest task. BENCH_ROUNDS sets the number of rounds.
 */
import { Report } from '@device-insights/fanout/bench-report';
import type { Page } from 'playwright-core';
import { Desk, fakeFeed } from './desk.js';
import { DEVICES, readings, showWall } from './wall.js';

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5);
const WINDOW_MS = 5000;
const TURN_MS = 100;

interface Measured {
  readonly fps: number;
  readonly longest: number;
}

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

const measure = async (page: Page) => (await page.evaluate(MEASURE)) as Measured;

const desk = await Desk.open();
const page = await desk.signedIn();
const send = await fakeFeed(page);
const rounds: { empty: Measured; wall: Measured }[] = [];
for (let round = 0; round < ROUNDS; round++) {
  await page.goto('about:blank');
  const empty = await measure(page);
  await showWall(page, desk, send);
  let n = 0;
  const timer = setInterval(() => {
    for (let i = 0; i < (DEVICES * TURN_MS) / 1000; i++, n++)
      for (const reading of readings(n % DEVICES, 60 + (n % 37))) send(reading);
  }, TURN_MS);
  rounds.push({ empty, wall: await measure(page) });
  clearInterval(timer);
}
await desk.close();

const report = new Report();
report.part(`the wall of ${DEVICES} live devices`);
const fps = rounds.map(({ wall }) => wall.fps);
const ofEmpty = rounds.map(({ empty }) => empty.fps);
report.figure('frames per second', '1/s', fps, ['>=', 57]);
report.figure('frames per second of an empty page', '1/s', ofEmpty);
report.ratio('frames per second to those of the empty page', fps, ofEmpty);
report.read('longest task (0: none above 50 ms)', 'ms', rounds, ({ wall }) => wall.longest, ['<=', 50]);
report.read('longest task of the empty page', 'ms', rounds, ({ empty }) => empty.longest);
report.summary();
