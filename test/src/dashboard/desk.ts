import type { Browser, BrowserContextOptions, Cookie, Page } from 'playwright-core';
import { launchChromium } from '../chromium.js';
import { Running, temporaryFolder } from '../running.js';

export const PASSWORD = 'correct horse battery staple';

/** A service with its dashboard, and a person at a browser. */
export class Desk {
  /** Errors of pages: scripts that failed, and requests that the policy blocked. */
  readonly complaints: string[] = [];
  #session: Cookie[] = [];

  private constructor(
    readonly service: Running,
    readonly browser: Browser,
    readonly folder: ReturnType<typeof temporaryFolder>,
  ) {}

  static async open(env: Readonly<Record<string, string>> = {}): Promise<Desk> {
    const folder = temporaryFolder();
    const dashboard = { DASHBOARD: 'on', DASHBOARD_PASSWORD: PASSWORD };
    const service = await Running.start({ DATA_DIR: folder.path, ...dashboard, ...env });
    return new Desk(service, await launchChromium(), folder);
  }

  async close(): Promise<void> {
    await this.browser.close();
    await this.service.end('SIGKILL');
    this.folder.remove();
  }

  /** A page of a new browser. */
  async page(options: BrowserContextOptions = {}): Promise<Page> {
    const context = await this.browser.newContext({ viewport: { width: 1280, height: 860 }, ...options });
    context.setDefaultTimeout(120_000);
    const page = await context.newPage();
    page.on('pageerror', (error) => this.complaints.push(error.message));
    page.on('console', (message) => {
      const text = message.text();
      if (message.type() === 'error' && !/status of (401|403|409|429)/.test(text)) this.complaints.push(text);
    });
    return page;
  }

  /** A page of a new browser that has the session of admin: a sign-in for each takes a quarter of a second of CPU time. */
  async adminPage(options: BrowserContextOptions = {}): Promise<Page> {
    const page = await this.page(options);
    const context = page.context();
    const post = {
      headers: { 'X-Dashboard': '1', Origin: this.service.url },
      data: { name: 'admin', password: PASSWORD },
    };
    if (this.#session.length > 0) await context.addCookies(this.#session);
    else await context.request.post(`${this.service.url}/dashboard/api/sign-in`, post);
    this.#session = await context.cookies();
    return page;
  }

  /** A page of admin at an address of the dashboard. */
  async signedIn(path = '', options: BrowserContextOptions = {}): Promise<Page> {
    const page = await this.adminPage(options);
    await page.goto(`${this.service.url}/dashboard${path}`);
    await page.getByRole('navigation').waitFor();
    return page;
  }

  /** A page of a person who has filled in the form at an address of the dashboard. */
  async signedInAs(name: string, password: string, path: string): Promise<Page> {
    const page = await this.page();
    await page.goto(`${this.service.url}/dashboard${path}`);
    await signIn(page, name, password);
    await page.getByRole('navigation').waitFor();
    return page;
  }

  /** Id of the account `default`. */
  async account(page: Page): Promise<string> {
    const answer = await page.request.get(`${this.service.url}/dashboard/api/accounts`);
    const accounts = (await answer.json()) as { id: string; name: string }[];
    return accounts.find(({ name }) => name === 'default')?.id ?? '';
  }
}

/** Fills in the form, as a person would. */
export async function signIn(page: Page, name: string, password: string): Promise<void> {
  await page.getByLabel('Name').fill(name);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

/** Sends chosen readings to a page, on the subscriber socket that it opens. */
export async function fakeFeed(page: Page): Promise<(reading: object) => void> {
  let send: (reading: object) => void = () => undefined;
  await page.routeWebSocket(/\/stream\/subscribe/, (socket) => {
    send = (reading) => socket.send(JSON.stringify(reading));
    socket.send('{"status":"subscribed"}');
  });
  return (reading) => send(reading);
}
