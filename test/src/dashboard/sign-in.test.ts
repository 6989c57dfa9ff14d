import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { portOf } from '@device-insights/fanout/platform/http-server';
import { runAdmin } from '@device-insights/gateway/test-admin';
import { expect } from 'chai';
import { WebSocket } from 'ws';
import { Operator } from '../operator.js';
import { Running, temporaryFolder } from '../running.js';
import { Desk, PASSWORD, signIn } from './desk.js';

interface Login {
  readonly password: string;
}

describe('signing in to the dashboard, in a browser', () => {
  let desk: Desk;
  before(async () => {
    desk = await Desk.open();
  });
  after(() => desk?.close());

  it('is found by a person who opens the address of the service alone', async () => {
    const page = await desk.page();
    await page.goto(desk.service.url);
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    expect(page.url()).to.match(/\/dashboard$/);
    await page.context().close();
  });

  it('sends a person whose password was reset to the sign-in, and then back to the same page', async () => {
    const env = { DATA_DIR: desk.folder.path };
    const { password } = await runAdmin<Login>(env, ['operator', 'add', 'ann', '--viewer']);
    const page = await desk.signedInAs('ann', password, '/audit');
    await page.getByRole('heading', { name: 'Audit log' }).waitFor();
    const reset = await runAdmin<Login>(env, ['operator', 'reset', 'ann']);
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await signIn(page, 'ann', reset.password);
    await page.getByRole('heading', { name: 'Audit log' }).waitFor();
    await page.context().close();
  });

  it('shows a viewer no actions that it may not perform', async () => {
    const env = { DATA_DIR: desk.folder.path };
    const { password } = await runAdmin<Login>(env, ['operator', 'add', 'vera', '--viewer']);
    const page = await desk.signedInAs('vera', password, '/accounts');
    await page.getByRole('row', { name: /default/ }).waitFor();
    expect(await page.getByRole('button', { name: 'New account' }).count()).to.equal(0);
    await page.getByRole('link', { name: 'Keys' }).click();
    await page.getByRole('row', { name: /whole account/i }).waitFor();
    expect(await page.getByRole('button', { name: /Revoke|Issue/ }).count()).to.equal(0);
    await page.context().close();
  });

  it('lets a viewer change its own password, and go on', async () => {
    const env = { DATA_DIR: desk.folder.path };
    const { password } = await runAdmin<Login>(env, ['operator', 'add', 'zoe', '--viewer']);
    const page = await desk.signedInAs('zoe', password, '/audit');
    await page.getByRole('button', { name: 'Password' }).click();
    await page.getByLabel('Current password').fill(password);
    await page.getByLabel('New password').fill('a much better one');
    await page.getByRole('button', { name: 'Change password' }).click();
    await page.getByRole('cell', { name: 'password changed' }).waitFor();
    await page.context().close();
    const again = await desk.signedInAs('zoe', 'a much better one', '/audit');
    await again.getByRole('heading', { name: 'Audit log' }).waitFor();
    await again.context().close();
  });

  it('shows the connections of devices that were refused', async () => {
    const page = await desk.signedIn('/accounts');
    const account = await desk.account(page);
    const { key } = await new Operator({ DATA_DIR: desk.folder.path }).issue('default');
    const query = new URLSearchParams({ api_key: key, device_id: '..', device_model_id: account });
    const socket = new WebSocket(`${desk.service.url.replace('http', 'ws')}/stream/ingest?${query}`);
    const [code] = await once(socket, 'close');
    expect(code).to.equal(4000);
    await page.goto(`${desk.service.url}/dashboard/a/${account}/devices`);
    await page.getByRole('row', { name: /^\.\. .*device_id must be .* 4000 127\.0\.0\.1 svc_/ }).waitFor();
    await page.context().close();
  });

  it('refuses a page of another origin, although the browser would send the cookie', async () => {
    const page = await desk.signedIn('/accounts');
    const foreign = await startForeign();
    try {
      await page.goto(`http://127.0.0.1:${portOf(foreign)}/`);
      for (const request of [
        `{ method: 'POST', mode: 'no-cors', credentials: 'include', body: '{"name":"forged"}' }`,
        `{ method: 'POST', credentials: 'include', headers: { 'X-Dashboard': '1' }, body: '{"name":"forged"}' }`,
      ])
        await page.evaluate(`fetch('${desk.service.url}/dashboard/api/accounts', ${request}).catch(() => 0)`);
    } finally {
      foreign.close();
    }
    const accounts = await page.request.get(`${desk.service.url}/dashboard/api/accounts`);
    expect((await accounts.json()).map(({ name }: { name: string }) => name)).to.deep.equal(['default']);
    await page.context().close();
  });

  it('gives access only to the dashboard: its cookie does not work on /v1, and no key works here', async () => {
    const page = await desk.signedInAs('admin', PASSWORD, '/accounts');
    expect((await page.request.get(`${desk.service.url}/v1/sessions`)).status()).to.equal(401);
    const [cookie] = await page.context().cookies();
    expect(cookie).to.include({ httpOnly: true, sameSite: 'Strict', path: '/dashboard' });
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    expect((await page.request.get(`${desk.service.url}/dashboard/api/accounts`)).status()).to.equal(401);
    await page.context().close();
  });

  it('reports a wrong sign-in, and how long to wait after many', async () => {
    const page = await desk.page();
    await page.goto(`${desk.service.url}/dashboard/audit`);
    await signIn(page, 'mallory', 'a guess');
    await page.getByText('The name or the password is wrong').waitFor();
    // The answer of the service after 20 (sign-in.test.ts), each of which takes a quarter of a second of CPU time.
    const json = { detail: 'too many attempts: try again in 60 s' };
    await page.route(/sign-in/, (route) => route.fulfill({ status: 429, headers: { 'retry-after': '60' }, json }));
    await signIn(page, 'mallory', 'another guess');
    await page.getByText(/^Too many attempts: try again in \d+ s/).waitFor();
    await page.context().close();
  });

  it('is announced at the start, with a generated password that is shown once', async () => {
    const folder = temporaryFolder();
    const service = await Running.start({ DATA_DIR: folder.path, DASHBOARD: 'on' });
    try {
      const said = service.banner.join('\n');
      expect(said).to.contain(`dashboard on ${service.url}/dashboard`);
      const [, password = ''] = /sign in as admin with the password, shown only this once: (\S+)/.exec(said) ?? [];
      const page = await desk.page();
      await page.goto(`${service.url}/dashboard/health`);
      await signIn(page, 'admin', password);
      await page.locator('.page-head').getByText('Up', { exact: true }).waitFor();
      await page.context().close();
      expect(service.log).not.to.contain(password);
      expect(desk.service.banner.join('\n')).not.to.contain(PASSWORD);
    } finally {
      await service.end('SIGKILL');
      folder.remove();
    }
  });
});

function startForeign(): Promise<Server> {
  const server = createServer((_, response) =>
    response.setHeader('content-type', 'text/html').end('<title>evil</title>'),
  );
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)));
}
