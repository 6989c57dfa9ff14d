import { randomUUID } from 'node:crypto';
import { systemClock } from '@device-insights/fanout/platform/clock';
import { addressOf, createHttpServer, listen } from '@device-insights/fanout/platform/http-server';
import { z } from 'zod';
import type { InsightType, StoredInsight } from '../insight.js';
import { keyRow, newKey } from '../keys/key.js';
import { KeyRing } from '../keys/key-ring.js';
import { openTemporaryStore } from '../store/embedded/temporary-store.fixture.js';
import type { Session, Store } from '../store/store.js';
import { partOf, sampleInsight, sampleSession } from '../store/suite/samples.js';
import { createRest } from './rest.js';
import type { RestOptions } from './rest-context.js';

export const ALGORITHMS = ['hr-ppg', 'hr-ecg', 'spo2'].map((slug) => ({
  id: randomUUID(),
  name: slug.toUpperCase(),
  slug,
  description: `What ${slug} does`,
  type: slug === 'spo2' ? 'spo2' : 'hr',
  everyS: 1,
})) satisfies RestOptions['algorithms'];

/** An account with a key, and a key of one of its users. */
export interface Tenant {
  readonly accountId: string;
  readonly key: string;
  readonly userKey: string;
}

/** A log that keeps its lines. */
export type Logged = { readonly fields: Record<string, unknown>; readonly text: string };

/** The REST interface on a real server, port and embedded store, for tests. */
export class TestServer {
  readonly logged: Logged[] = [];
  #close = async () => {};

  private constructor(
    readonly url: string,
    readonly store: Store,
  ) {}

  /** `change` replaces real parts: with a store that fails, or another clock. */
  static async start(change: (store: Store) => Partial<RestOptions> = () => ({})): Promise<TestServer> {
    const store = await openTemporaryStore();
    const silent = { warn: () => {}, error: () => {} };
    const server = createHttpServer((request, response) => handle(request, response), silent);
    await listen(server, '127.0.0.1', 0, 'PORT');
    const made = new TestServer(addressOf(server, '127.0.0.1'), store);
    const handle = createRest(made.options(change(store))).callback();
    made.#close = async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await store.close();
    };
    return made;
  }

  stop(): Promise<void> {
    return this.#close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  async tenant(name: string = randomUUID(), user = 'ann'): Promise<Tenant> {
    const accountId = randomUUID();
    await this.store.createAccount({ id: accountId, name, algorithms: null, createdAt: Date.now() });
    return { accountId, key: await this.key(accountId, null), userKey: await this.key(accountId, user) };
  }

  async key(accountId: string, user: string | null, expiresAt: number | null = null): Promise<string> {
    const key = newKey();
    await this.store.addKey(keyRow(key, { accountId, user, createdAt: Date.now(), expiresAt }));
    return key;
  }

  /** A request; an object is sent as JSON, text and bytes as they are. */
  async request(method: string, path: string, key?: string, body?: unknown, headers: Record<string, string> = {}) {
    const response = await fetch(this.url + path, {
      method,
      headers: {
        ...(key !== undefined && { authorization: `Bearer ${key}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && {
        body: typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body),
      }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, json: parsed(text) };
  }

  options(change: Partial<RestOptions> = {}): RestOptions {
    const log = (fields: unknown, text?: unknown) => {
      this.logged.push({ fields: fields as Record<string, unknown>, text: String(text) });
    };
    return {
      store: this.store,
      keys: new KeyRing(this.store, systemClock, { warn: log }),
      algorithms: ALGORITHMS,
      sockets: ['/stream/ingest'],
      health: async () => ({ ok: true, ingest: true, subscribe: true }),
      upload: () => Promise.reject(new Error('this server takes no uploads')),
      observe: () => {},
      log: { error: log, warn: log },
      clock: systemClock,
      ...change,
    };
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The `detail` of an error, which must be its only field. */
export function detailOf({ json }: { readonly json: unknown }): string {
  return z.strictObject({ detail: z.string().min(1) }).parse(json).detail;
}

/** A row of a session, open since `startedAt`. */
export function sessionRow(accountId: string, startedAt: number, user: string | null = null): Session {
  return sampleSession({ accountId, startedAt, user });
}

/** An insight of a session, published at `ts` over the 8 s before `end`. */
export function insightRow(session: Session, ts: number, end = ts - 100, type: InsightType = 'hr'): StoredInsight {
  return sampleInsight(session, end, ts, { type });
}

/** Opens a session with these insights. */
export async function seed(store: Store, session: Session, insights: readonly StoredInsight[] = []): Promise<void> {
  await store.openSession(session);
  if (insights.length > 0) await store.commit([partOf(session, [...insights])]);
}
