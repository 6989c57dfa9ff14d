import { randomUUID, scryptSync } from 'node:crypto';
import { addressOf, createHttpServer, listen } from '@device-insights/fanout/platform/http-server';
import { ManualClock } from '@device-insights/fanout/platform/manual-clock.fixture';
import { CATALOGUE } from '../analysis/algorithms.js';
import { RefusedDevices } from '../refused-devices.js';
import { openTemporaryStore } from '../store/embedded/temporary-store.fixture.js';
import type { Role, Store } from '../store/store.js';
import { createDashboard } from './dashboard.js';
import type { DashboardOptions } from './dashboard-context.js';
import type { Me } from './rows.js';

export const PASSWORD = 'correct horse battery';
/** Its hash, at a ten-thousandth of the costs of real ones, of which each takes a quarter of a second of CPU time. */
const HASH = `scrypt$2$1$1$c2FsdA$${scryptSync(PASSWORD, 'salt', 32, { N: 2, r: 1, p: 1 }).toString('base64url')}`;

/** The answer of the dashboard's interface; `Body` is what its JSON is. */
interface Answer<Body> {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly json: Body;
}

/** The dashboard on a real server, port and embedded store, for tests. */
export class TestDashboard {
  readonly logged: { readonly fields: Record<string, unknown>; readonly text: string }[] = [];
  readonly refused = new RefusedDevices();
  #close = async () => {};
  #drop = () => {};
  #restart = () => {};

  private constructor(
    readonly url: string,
    readonly store: Store,
    readonly clock: ManualClock,
  ) {}

  static async start(): Promise<TestDashboard> {
    const clock = new ManualClock(Date.parse('2026-03-01T10:00:00.000Z'));
    const store = await openTemporaryStore(clock);
    const server = createHttpServer((request, response) => handle(request, response), {
      warn: () => {},
      error: () => {},
    });
    await listen(server, '127.0.0.1', 0, 'PORT');
    const made = new TestDashboard(addressOf(server, '127.0.0.1'), store, clock);
    const log = (fields: unknown, text?: unknown) => {
      made.logged.push({ fields: fields as Record<string, unknown>, text: String(text) });
    };
    const options: DashboardOptions = {
      ...{ store, algorithms: CATALOGUE, clock, gateway: 'this one', log: { info: log, warn: log, error: log } },
      ...{ observe: () => {}, signIns: new Map() },
      inspect: async () => null,
      refusals: (accountId) => made.refused.of(accountId),
      health: async () => ({ ok: false, ingest: true, subscribe: false, reason: 'subscribe: x', cause: 'because' }),
      load: async () => ({
        ...{ cpu: 0.1, memory_bytes: 1, event_loop_delay_ms: 0, uptime_s: 1, devices: 0, sessions: 0, max_sessions: 9 },
        ...{ subscribers: null, waiting_readings: 0, core_seconds: 0, core_session_seconds: 0 },
      }),
    };
    let handle = createDashboard(options).callback();
    made.#restart = () => {
      handle = createDashboard(options).callback();
    };
    made.#drop = () => server.closeAllConnections();
    made.#close = async () => {
      made.drop();
      await new Promise((resolve) => server.close(resolve));
      await store.close();
    };
    return made;
  }

  stop(): Promise<void> {
    return this.#close();
  }

  /** Begins again with nothing but the store, as after a restart. */
  restart(): void {
    this.#restart();
  }

  /** Breaks all connections. */
  drop(): void {
    this.#drop();
  }

  async operator(name: string, role: Role = 'operator'): Promise<void> {
    await this.store.addOperator({
      id: randomUUID(),
      name,
      role,
      password: HASH,
      revision: 1,
      createdAt: this.clock.now(),
    });
  }

  /** A request as the dashboard's own pages make it; an object is sent as JSON. */
  async call<Body = { detail: string }>(
    method: string,
    path: string,
    { cookie = '', body, headers = {} }: { cookie?: string; body?: unknown; headers?: Record<string, string> } = {},
  ): Promise<Answer<Body>> {
    const response = await fetch(`${this.url}${path}`, {
      method,
      headers: {
        ...{ origin: this.url, 'x-dashboard': '1' },
        ...(cookie !== '' && { cookie }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false;
    const json = (isJson ? JSON.parse(text) : undefined) as Body;
    return { status: response.status, headers: response.headers, text, json };
  }

  signIn(
    name: string,
    password = PASSWORD,
    headers: Record<string, string> = {},
  ): Promise<Answer<Me & { detail: string }>> {
    return this.call('POST', '/dashboard/api/sign-in', { body: { name, password }, headers });
  }

  /** The cookie of a new login. */
  async cookie(name: string): Promise<string> {
    const { headers } = await this.signIn(name);
    return String(headers.get('set-cookie')).split(';', 1)[0] ?? '';
  }
}
