import { randomUUID } from 'node:crypto';
import { createRequire } from 'node:module';
import { simulate } from '@device-insights/sdk/simulator';
import type axe from 'axe-core';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { connect, makeModel, sendFrames } from '../wearable.js';
import { Desk } from './desk.js';

/** As long as the protocol allows. */
const DEVICE = 'looked-at-'.padEnd(128, '1');

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

describe('every page of the dashboard', () => {
  let desk: Desk;
  let page: Page;
  let paths: readonly string[];

  before(async () => {
    desk = await Desk.open();
    const { service } = desk;
    const source = simulate({ seconds: 70 });
    const { socket, ready } = await connect(service, DEVICE, await makeModel(service, source));
    await sendFrames(socket, source, Date.now() - 70_000, 0, 70);
    page = await desk.signedIn('', { bypassCSP: true }); // For axe, which is injected into the page.
    const account = `/dashboard/a/${await desk.account(page)}`;
    paths = [
      ...['start', 'live', 'devices', `devices/${DEVICE}`, 'sessions', 'keys', 'users'].map(
        (name) => `${account}/${name}`,
      ),
      `${account}/sessions/${ready.session_id}`,
      ...['accounts', 'health', 'audit', 'nothing'].map((name) => `/dashboard/${name}`),
      '/docs#sockets',
    ];
  });
  after(() => desk?.close());

  /** Opens a page and waits until it is complete. */
  async function open(path: string): Promise<void> {
    await page.goto(desk.service.url + path);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.waitForFunction("!document.querySelector('.skeleton')");
  }

  it('fits a phone of 360 pixels, and has nothing that axe finds fault with, in light and in dark colors', async () => {
    for (const path of paths) {
      await page.setViewportSize({ width: 360, height: 740 });
      await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
      await open(path);
      expect(await page.evaluate('document.documentElement.scrollWidth'), path).to.equal(360);
      await page.setViewportSize({ width: 1280, height: 860 });
      expect(await faults(page), path).to.deep.equal([]);
      await page.emulateMedia({ colorScheme: 'dark' });
      expect(await faults(page, COLORS), path).to.deep.equal([]);
    }
    await page.emulateMedia({ colorScheme: 'light' });
  });

  it('shows the actions of a key beside a long name of its user', async () => {
    const answer = await page.request.post(
      `${desk.service.url}/dashboard/api/accounts/${await desk.account(page)}/keys`,
      {
        data: { user: 'somebody-with-a-long-name@hospital.example.org' },
        headers: { 'X-Dashboard': '1', Origin: desk.service.url },
      },
    );
    expect(answer.status()).to.equal(201);
    await open(paths.find((path) => path.endsWith('/keys')) ?? '');
    const hidden = await page.evaluate("((it) => it.scrollWidth - it.clientWidth)(document.querySelector('.table'))");
    expect(hidden).to.equal(0);
  });

  it('says that an address leads nowhere, also one of an unknown account and one that is not encoded correctly', async () => {
    for (const path of ['nothing', `a/${randomUUID()}/sessions`, 'a/%E0%A4%A/start']) {
      await open(`/dashboard/${path}`);
      expect(await page.getByRole('heading', { level: 1 }).textContent(), path).to.equal('Page not found');
    }
  });

  it('says once that a session does not exist, and offers no actions for it', async () => {
    const sessions = paths.find((path) => path.endsWith('/sessions')) ?? '';
    await open(`${sessions}/${randomUUID()}`);
    await page.getByRole('alert').waitFor();
    expect(await page.getByRole('alert').allTextContents()).to.have.length(1);
    expect(await page.getByText('Download CSV').count()).to.equal(0);
  });

  it('passes the checks of axe on the sign-in page and in a dialog', async () => {
    const stranger = await desk.page({ bypassCSP: true });
    await stranger.goto(`${desk.service.url}/dashboard`);
    await stranger.getByRole('heading', { name: 'Sign in' }).waitFor();
    expect(await faults(stranger)).to.deep.equal([]);
    await open(paths.find((path) => path.endsWith('/keys')) ?? '');
    await page.getByRole('button', { name: 'Issue a key' }).click();
    expect(await faults(page)).to.deep.equal([]);
  });

  it('can be used by keyboard alone', async () => {
    await open(paths.find((path) => path.endsWith('/keys')) ?? '');
    await page.locator('body').press('Tab');
    expect(await page.evaluate('document.activeElement.textContent')).to.contain('Skip to content');
    await page.getByRole('button', { name: 'Issue a key' }).focus();
    await page.keyboard.press('Enter');
    await page.waitForFunction("document.activeElement.closest('dialog') !== null");
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.waitForFunction("document.activeElement.textContent === 'Issue a key'");
  });

  it('needs less than 120 kB, gzipped, when it is first opened', async () => {
    const stranger = await desk.page();
    const sizes: Promise<number>[] = [];
    stranger.on('response', (response) => {
      if (response.url().startsWith(`${desk.service.url}/dashboard`))
        sizes.push(
          response
            .request()
            .sizes()
            .then(({ responseBodySize }) => responseBodySize),
        );
    });
    await stranger.goto(`${desk.service.url}/dashboard`);
    await stranger.getByRole('heading', { name: 'Sign in' }).waitFor();
    const bytes = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
    expect(bytes).to.be.within(10_000, 120_000);
  });
});

/** The rules of axe that another color scheme can break. */
const COLORS: axe.RunOptions = { runOnly: ['color-contrast', 'link-in-text-block'] };

/** The findings of axe, one line each. */
async function faults(page: Page, options: axe.RunOptions = {}): Promise<string[]> {
  await page.addScriptTag({ path: AXE });
  const { violations } = (await page.evaluate(`axe.run(${JSON.stringify(options)})`)) as axe.AxeResults;
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 160)}`));
}
