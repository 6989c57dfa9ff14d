import { readFileSync } from 'node:fs';
import { busyLimit } from '@device-insights/fanout/platform/busy.fixture';
import { simulate } from '@device-insights/sdk/simulator';
import { expect } from 'chai';
import type { Locator, Page } from 'playwright-core';
import { eventually } from '../eventually.js';
import { KEY } from '../running.js';
import { RawSocket } from '../socket.js';
import { connect, makeModel, sendFrames } from '../wearable.js';
import { Desk, fakeFeed } from './desk.js';

const READING = { unit: 'bpm', session_id: '0', confidence: 0.9 };

describe('the people at the dashboard', () => {
  let desk: Desk;
  before(async () => {
    desk = await Desk.open();
  });
  after(() => desk?.close());
  afterEach(() => {
    expect(desk.complaints.splice(0)).to.deep.equal([]);
  });

  const text = async (place: Locator) => (await place.textContent())?.trim() ?? '';

  it('a newcomer is led to live readings, and to working programs', async () => {
    const page = await desk.signedIn();
    await page.getByRole('heading', { name: 'Start here' }).waitFor();
    await page.getByRole('button', { name: 'Issue a key' }).click();
    const key = await text(page.getByLabel('The new API key', { exact: true }));
    expect(key).to.match(/^svc_[0-9A-Za-z]{32}$/);
    await page.getByRole('button', { name: 'Start the simulator' }).click();
    for (const [type, number] of [
      ['hr', /^\d{2}$/],
      ['spo2', /^9\d\.\d$/],
      ['rr', /^1\d$/],
    ] as const) {
      const value = page.locator(`.tile [data-type="${type}"] .value`);
      await eventually(`${type} moves`, async () => number.test(await text(value)), 30_000);
    }
    const curl = await text(page.getByLabel('curl command', { exact: true }));
    const [, url = ''] = /curl '([^']+)'/.exec(curl) ?? [];
    const [, authorization = ''] = /Authorization: (Bearer \S+)'/.exec(curl) ?? [];
    const answer = await fetch(url, { headers: { authorization } });
    expect((await answer.json()) as unknown[]).to.have.length(5);
    expect(await text(page.getByLabel('JavaScript with the SDK', { exact: true }))).to.contain(key);
    await page.getByRole('button', { name: 'Stop it' }).click();
    await page.getByRole('button', { name: 'Start the simulator' }).waitFor();
    await page.context().close();
  });

  it('an operator begins with the live readings once the account has a session', async () => {
    const source = simulate({ seconds: 1 });
    const { socket } = await connect(desk.service, 'known-1', await makeModel(desk.service, source));
    socket.close();
    const page = await desk.signedIn();
    await page.getByRole('heading', { name: 'Live', exact: true }).waitFor();
    await page.context().close();
  });

  it('a device maker sees the state and the problems of a device', async () => {
    const { service } = desk;
    const source = simulate({ seconds: 45 });
    const channels = source.deviceModel.modality_channels.map((channel) => ({ ...channel }));
    const slow = channels.map((c) => (c.modality === 'ppg_green' ? { ...c, sample_rate_hz: 50 } : c));
    const model = { ...source.deviceModel, modality_channels: slow };
    const modelId = await makeModel(service, { ...source, deviceModel: model });
    const { socket } = await connect(service, 'proto-1', modelId);
    const begin = Date.now() - 45_000;
    await sendFrames(socket, source, begin, 0, 18);
    await sendFrames(socket, source, begin, 24, 45);
    for (let i = 0; i < 3; i++) socket.send({ type: 'samples', channel: 40, seq: 0, samples: [1] });
    const page = await desk.signedIn(`/a/${KEY}`);
    await page.goto(`${service.url}/dashboard/a/${await desk.account(page)}/devices`);
    await page.getByRole('link', { name: 'proto-1' }).click();
    await page.getByText(/^Connected for/).waitFor();
    await page.getByText(/the data arrive at \d+(\.\d+)? Hz, but the device model says 50 Hz/).waitFor();
    await page.getByText('3 refused').waitFor();
    await page.getByText('a channel that the model does not have').waitFor();
    const green = page.getByRole('row', { name: /ppg_green/ });
    expect(await text(green)).to.match(/50 Hz(9\d|10\d)(\.\d+)? Hz/);
    const breathing = page.getByRole('row', { name: /^Breathing/ });
    await breathing.getByText(/^Only \d+ % of the window contains data: see the gaps below/).waitFor();
    expect(await green.getByRole('img').getAttribute('aria-label')).to.match(/% of the time contains data, 1 gap$/);
    await page.getByText('Waiting for samples').waitFor();
    const more = simulate({ seconds: 50 });
    await sendFrames(socket, more, begin, 45, 49);
    await page.getByRole('slider', { name: 'Signal of ppg_green' }).waitFor();
    const recorded = page.waitForResponse(/channel=3/); // From then on.
    await page.getByLabel('Channel', { exact: true }).selectOption('3');
    await recorded;
    await sendFrames(socket, more, begin, 49, 50);
    await page.getByRole('slider', { name: 'Signal of ecg' }).waitFor();
    socket.send({ type: 'end' });
    await page.getByText('Offline', { exact: true }).waitFor();
    await page.context().close();
  });

  it('a device maker is not sent to look for gaps that a new session does not have', async () => {
    const source = simulate({ seconds: 20 });
    const { socket } = await connect(desk.service, 'proto-2', await makeModel(desk.service, source));
    await sendFrames(socket, source, Date.now() - 20_000, 0, 20);
    const page = await desk.signedIn();
    await page.goto(`${desk.service.url}/dashboard/a/${await desk.account(page)}/devices/proto-2`);
    const breathing = page.getByRole('row', { name: /^Breathing/ });
    await breathing.getByText(/^Only \d+ % of the window contains data: the session has just begun/).waitFor();
    await page.context().close();
  });

  it('an app developer reads the reference, and tries both interfaces there', async () => {
    const page = await desk.page();
    const foreign: string[] = [];
    page.on('request', (request) => {
      if (!/^(data|blob):/.test(request.url()) && !request.url().startsWith(desk.service.url))
        foreign.push(request.url());
    });
    await page.goto(`${desk.service.url}/docs`);
    await page.getByLabel('API key').fill(KEY);
    await page.locator('#operations-algos-listAlgorithms').click();
    await page.getByRole('button', { name: 'Execute' }).click();
    await page.locator('.live-responses-table').getByText('hr-ppg').first().waitFor();
    await page.getByRole('button', { name: 'WebSockets' }).click();
    await page.getByRole('button', { name: 'Connect' }).nth(1).click();
    await page.getByText('{"status":"subscribed"}').waitFor();
    expect(foreign).to.deep.equal([]);
    expect(await page.evaluate('localStorage.length + sessionStorage.length')).to.equal(0);
    await page.context().close();
  });

  it('an operator creates an account, entitles it, and issues, rotates and revokes its keys', async () => {
    const page = await desk.signedIn('/accounts');
    await page.getByRole('button', { name: 'New account' }).click();
    await page.getByLabel('Name').fill('ward 7');
    await page.getByRole('button', { name: 'Create account' }).click();
    await page.getByRole('button', { name: 'Entitle ward 7' }).click();
    await page.getByLabel('All, including future ones').uncheck();
    for (const name of await page
      .getByRole('dialog')
      .getByLabel(/rate from ECG|ratio/i)
      .all())
      await name.uncheck();
    await page.getByRole('button', { name: 'Save' }).click();
    await page
      .getByRole('row', { name: /ward 7/ })
      .getByText('hr-ppg, rr-ppg, rr-resp')
      .waitFor();

    await page.getByRole('link', { name: 'ward 7' }).click();
    await page.getByText('No key yet').waitFor();
    const key = await issue(page, 'zoë');
    const row = page.getByRole('row', { name: new RegExp(key.slice(-4)) });
    await row.getByText('zoë').waitFor();
    expect(await text(row))
      .to.contain('Valid')
      .and.to.contain('never');

    await row.getByRole('button', { name: /Rotate/ }).click();
    await page.getByRole('button', { name: 'Create the new key' }).click();
    await page.getByRole('button', { name: 'I have stored it' }).click();
    await row.getByText('Replaced').waitFor();

    const app = new RawSocket(`${desk.service.wsUrl}/stream/subscribe?api_key=${key}`);
    expect(await app.next()).to.deep.equal({ status: 'subscribed' });
    await row.getByRole('button', { name: /Revoke/ }).press('Enter');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Enter'); // Pressed twice by mistake: it must not revoke.
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await row.getByRole('button', { name: /Revoke/ }).click();
    await page.getByRole('button', { name: 'Revoke the key' }).click();
    await row.getByText('Revoked').waitFor();
    const revoked = Date.now();
    const { code, at } = await app.closed();
    expect(code).to.equal(4001);
    expect(at - revoked).to.be.lessThan(busyLimit(2000));

    await page.getByRole('link', { name: 'Users' }).click();
    await page.getByRole('row', { name: 'zoë 2' }).waitFor();
    await page.getByRole('link', { name: 'Audit log' }).click();
    for (const what of ['key revoked', 'key rotated', 'key issued', 'account entitled', 'account created'])
      await page.getByRole('row', { name: new RegExp(`admin ${what} ward 7`) }).waitFor();
    await page.getByRole('link', { name: 'Health' }).click();
    await page.locator('.page-head').getByText('Up', { exact: true }).waitFor();
    await page.context().close();
  });

  it('an operator finds a session, zooms in, and downloads its readings', async () => {
    const { service } = desk;
    const source = simulate({ seconds: 60 });
    const { socket } = await connect(service, 'found-1', await makeModel(service, source));
    await sendFrames(socket, source, Date.now() - 60_000, 0, 25);
    await sendFrames(socket, source, Date.now() - 60_000, 45, 60);
    socket.send({ type: 'end' });
    await socket.until(({ type }) => type === 'ended');
    const page = await desk.signedIn();
    await page.goto(`${service.url}/dashboard/a/${await desk.account(page)}/sessions`);
    await page.getByLabel('Device id').fill('found-2');
    await page.getByText('No session matches').waitFor();
    await page.getByLabel('Device id').fill('found-1');
    await page.getByLabel('Status').selectOption('closed');
    await page.locator('tbody th a').first().click();
    const summary = page.getByRole('region', { name: 'Summary' }).getByRole('row', { name: /^Heart rate/ });
    expect(await text(summary)).to.match(/^Heart rate(\d+\.\d bpm){3}(\d+ s){3}$/);
    const chart = page.getByRole('slider', { name: /^Heart rate over time: \d+ to \d+ bpm/ });
    await chart.waitFor();
    // Five types, the beats of ECG and light, and three measures.
    await page.getByRole('slider', { name: /^Intervals between beats from light over time: \d+ intervals/ }).waitFor();
    expect(await page.getByRole('slider', { name: /over time/ }).count()).to.equal(5 + 2 + 3);
    expect(await page.getByRole('img', { name: /^Poincaré plot of \d\d pairs/ }).count()).to.equal(2);

    await chart.scrollIntoViewIfNeeded();
    const zoomed = page.waitForResponse((response) => response.url().includes('/series?from='));
    const { x, y, width, height } = (await chart.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
    await page.mouse.move(x + width * 0.2, y + height / 2);
    await page.mouse.down();
    await page.mouse.move(x + width * 0.4, y + height / 2, { steps: 4 });
    await page.mouse.up();
    await zoomed;
    await page.getByRole('button', { name: 'Show the whole session' }).click();

    const saved = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Download summary' }).click();
    const table = readFileSync(await (await saved).path(), 'utf8');
    expect(table).to.match(/^session_id,device_id,type,unit,mean,minimum,maximum,excellent_s,acceptable_s,unfit_s\r\n/);
    const download = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Download CSV' }).click();
    const csv = readFileSync(await (await download).path(), 'utf8');
    expect(csv.split('\r\n')[0]).to.match(/^ts,type,value/);
    expect(csv.split('\r\n').length).to.be.greaterThan(50);
    const beats = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Download beats' }).click();
    const beatCsv = readFileSync(await (await beats).path(), 'utf8');
    expect(beatCsv).to.match(/^t,source,quality\r\n\d+(\.\d)?,(ecg|ppg),[\d.]+\r\n/);
    await page.context().close();
  });

  it('a person who reads on in a list misses no row that has come meanwhile, and sees no error that is over', async () => {
    const page = await desk.adminPage();
    await page.clock.install();
    let newest = 5;
    let fails = true;
    await page.route('**/dashboard/api/audit*', (route) => {
      const cursor = new URL(route.request().url()).searchParams.get('cursor');
      if (cursor !== null && fails) return route.fulfill({ status: 409, json: { detail: 'try again' } });
      const from = Number(cursor ?? newest);
      const rows = [from, from - 1].map((n) => ({ at: new Date(0), actor: 'ann', action: `act ${n}`, subject: '' }));
      return route.fulfill({ json: { rows, next: String(from - 2) } });
    });
    await page.goto(`${desk.service.url}/dashboard/audit`);
    const more = page.getByRole('button', { name: 'Earlier entries' });
    await more.click();
    await page.getByText('Try again.').waitFor();
    fails = false;
    await more.click();
    await page.getByText('act 2').waitFor();
    expect(await page.getByRole('alert').count()).to.equal(0);
    newest = 6;
    await page.clock.fastForward(5000);
    await page.evaluate('new Promise(requestAnimationFrame)');
    const shown = await page.getByText(/^act/).allTextContents();
    expect(shown).to.deep.equal(['act 5', 'act 4', 'act 3', 'act 2']);
    await page.context().close();
  });

  it('a person on watch sees which readings are fit, unfit and old', async () => {
    const page = await desk.adminPage();
    await page.clock.install();
    const send = await fakeFeed(page);
    await page.goto(`${desk.service.url}/dashboard`);
    await page.getByRole('link', { name: 'Live' }).click();
    await page.getByRole('status').getByText('Live').waitFor();
    const now = Number(await page.evaluate('Date.now()'));
    const bed = { ...READING, device_id: 'bed-3', ts: now };
    send({ ...bed, type: 'hr', value: 71.6, sqi_class: 'excellent' });
    send({ ...bed, type: 'spo2', value: 96.4, unit: '%', sqi_class: 'acceptable' });
    send({ ...bed, type: 'rr', value: 14.2, unit: 'brpm', sqi_class: 'unfit' });
    const tile = page.getByRole('article', { name: 'bed-3' });
    const line = async (type: string) =>
      (await text(tile.locator(`[data-type="${type}"] .number`))).replace(/\s+/g, ' ');
    await eventually('the readings are shown', async () => (await line('rr')) === '– estimating');
    expect([await line('hr'), await line('spo2')]).to.deep.equal(['72 bpm', '96.4 %']);
    const color = (type: string) =>
      page.evaluate(`getComputedStyle(document.querySelector('[data-type="${type}"] .value')).color`);
    expect(await color('spo2')).not.to.equal(await color('hr'));
    expect(await text(tile.locator('.age'))).to.equal('live');
    await page.clock.fastForward(12_000);
    await eventually('the age is told', async () => /^1[2-9] s ago$/.test(await text(tile.locator('.age'))));
    expect(await tile.getAttribute('class')).to.contain('stale');
    await page.context().close();
  });

  it('a person on watch sees why a device has no reading, in place of it, and finds devices by their ids', async () => {
    const { service } = desk;
    const channel = { modality: 'ppg_green', sample_rate_hz: 50, bit_depth: 16, num_channels: 1 };
    const source = simulate({ seconds: 1 });
    const flat = { ...source, deviceModel: { ...source.deviceModel, modality_channels: [channel] } };
    const modelId = await makeModel(service, flat);
    const loose = (await connect(service, 'why-loose', modelId)).socket;
    const begin = Date.now() - 40_000;
    for (let s = 0; s < 40; s++) {
      const samples = Array.from({ length: 50 }, () => 2);
      loose.send({ type: 'samples', channel: 0, seq: s * 50, ts: begin + s * 1000, samples });
    }
    const refused = (await connect(service, 'why-refused', modelId)).socket;
    for (let i = 0; i < 3; i++) refused.send({ type: 'samples', channel: 40, seq: 0, samples: [1] });
    const page = await desk.signedIn();
    await page.goto(`${service.url}/dashboard/a/${await desk.account(page)}/live`);
    const none = page.getByRole('article', { name: 'why-loose' }).locator('[data-type="hr"] .number');
    await eventually('the reason is shown', async () => /^–\s+no contact$/.test(await text(none)), 30_000);
    expect(await none.locator('.word').getAttribute('title')).to.contain('check that it is worn');
    const tile = page.getByRole('article', { name: 'why-refused' });
    await tile.getByText('3 frames refused: a channel that the model does not have').waitFor();
    await page.getByLabel('Device id begins with').fill('why-r');
    await page.getByRole('article', { name: 'why-loose' }).waitFor({ state: 'detached' });
    await tile.getByText('3 frames refused').waitFor();
    await page.getByLabel('Device id begins with').fill('nobody');
    await page.getByText('No streaming device has an id that begins with nobody').waitFor();
    loose.close();
    refused.close();
    await page.context().close();
  });

  it('a person on watch sees at once what came before, also if it arrives before its tile is drawn', async () => {
    const page = await desk.adminPage();
    await page.clock.install();
    await fakeFeed(page);
    await page.route('**/streaming?*', (route) =>
      route.fulfill({ json: [{ session_id: '0', device_id: 'bed-4', notices: [], refused: [] }] }),
    );
    const lists = { value: [64], confidence: [0.9], quality: ['excellent'], coverage: [1], latency: [0] };
    await page.route('**/series?*', (route) =>
      route.fulfill({ json: [{ type: 'hr', unit: 'bpm', t: [Date.now()], ...lists }] }),
    );
    await page.goto(`${desk.service.url}/dashboard/health`);
    const live = page.getByRole('link', { name: 'Live' });
    await live.waitFor();
    await page.clock.pauseAt(Date.now() + 60_000); // No animation frame comes by itself.
    const series = page.waitForResponse(/series/);
    await live.click();
    await page.clock.runFor(50);
    await (await series).finished();
    await page.evaluate('fetch("/dashboard/favicon.svg")');
    await page.clock.resume();
    await page.getByRole('article', { name: 'bed-4' }).getByText('64').waitFor({ timeout: 5000 });
    await page.context().close();
  });

  it('a person on watch stays connected: the key is renewed before it expires', async () => {
    const page = await desk.adminPage();
    await page.clock.install();
    const keys: string[] = [];
    page.on('websocket', (socket) => keys.push(new URL(socket.url()).searchParams.get('api_key') ?? ''));
    await page.goto(`${desk.service.url}/dashboard`);
    await page.getByRole('link', { name: 'Live' }).click();
    await page.getByRole('status').getByText('Live').waitFor();
    await page.clock.fastForward(430_000);
    await eventually('there is another key', () => keys.length === 2);
    expect(keys[0]).to.match(/^svc_/).and.not.to.equal(keys[1]);
    for (const key of keys) {
      const answer = await fetch(`${desk.service.url}/v1/sessions`, { headers: { authorization: `Bearer ${key}` } });
      expect(answer.status, 'such a key is good for nothing else').to.equal(401);
    }
    await page.context().close();
  });
});

/** Issues a key to a user in the dialog; the key. */
async function issue(page: Page, user: string): Promise<string> {
  await page.getByRole('button', { name: 'Issue a key' }).click();
  await page.getByLabel('User').fill(user);
  await page.getByRole('dialog').getByRole('button', { name: 'Issue a key' }).click();
  const key = await page.getByLabel('The new API key', { exact: true }).textContent();
  await page.getByRole('button', { name: 'I have stored it' }).click();
  return key?.trim() ?? '';
}
