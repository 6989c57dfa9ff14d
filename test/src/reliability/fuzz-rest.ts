import { setTimeout } from 'node:timers/promises';
import { type FuzzAccount, type Stage, watchOwner } from './fuzz-actors.js';
import type { Random } from './random.js';

const PATHS = [
  '/v1/device-models',
  '/v1/device-models/ID',
  '/v1/device-models/ID/modalities',
  '/v1/device-models/ID/modalities/ID',
  '/v1/sessions',
  '/v1/sessions/ID',
  '/v1/sessions/ID/insights',
  '/v1/insights',
  '/v1/algos',
  '/v1/stream/health',
  '/openapi.json',
  '/v1/nothing',
  '/stream/ingest',
];
const METHODS = ['GET', 'GET', 'GET', 'GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'HEAD'];
const QUERIES = [
  '',
  'limit=1',
  'limit=0',
  'limit=1e3',
  'status=open',
  'status=x',
  'type=hr',
  'since=2020-01-01T00:00:00Z',
  'cursor=',
  'cursor=%00',
];
const BODIES = [
  '',
  '{',
  '[]',
  '{}',
  'null',
  '{"name":"x"}',
  '{"name":1}',
  '{"modality_channels":[{}]}',
  `"${'x'.repeat(5000)}"`,
];
/** Timeout of a request, ms. */
const PATIENCE_MS = 15_000;

/**
 * A REST client that sends arbitrary requests, with its own key or a bad one; no answer may be a server error or
 * contain data of others.
 */
export async function restActor(stage: Stage, random: Random): Promise<void> {
  const seen: string[] = [];
  while (!stage.over.aborted) {
    const account = random.pick(stage.accounts);
    const id = () =>
      seen.length > 0 && random.chance(0.8) ? random.pick(seen) : random.pick(['x', '%00', ghost(random)]);
    const path = random.pick(PATHS).replaceAll('ID', id);
    const method = random.pick(METHODS);
    const response = await ask(stage, account, random, method, path).catch((error: Error) => {
      if (!stage.over.aborted) stage.tally.faults.push(`${method} ${path}: ${error}`);
    });
    if (response) remember(stage, account, path, response, seen);
    await setTimeout(random.below(20));
  }
}

async function ask(
  { url, tally }: Stage,
  { key }: FuzzAccount,
  random: Random,
  method: string,
  path: string,
): Promise<unknown> {
  const response = await fetch(`${url}${path}?${random.pick(QUERIES)}`, {
    method,
    headers: {
      authorization: random.chance(0.95) ? `Bearer ${key}` : random.pick(['', 'Bearer', 'Basic x', 'Bearer svc_x']),
      ...(random.chance(0.8) && { 'content-type': 'application/json' }),
      ...(random.chance(0.1) && { 'idempotency-key': `${random.below(50)}` }),
    },
    ...(['POST', 'PUT', 'PATCH'].includes(method) && { body: random.pick(BODIES) }),
    signal: AbortSignal.timeout(PATIENCE_MS),
  });
  tally.requests++;
  tally.count('statuses', response.status);
  if (response.status >= 500) tally.faults.push(`${method} ${path}: ${response.status}`);
  const text = await response.text();
  return text && response.headers.get('content-type')?.includes('json') ? JSON.parse(text) : null;
}

/** Keeps the received ids, for later requests of every account, and checks whose they are. */
function remember(stage: Stage, account: FuzzAccount, path: string, body: unknown, seen: string[]): void {
  for (const each of Array.isArray(body) ? body : [body]) {
    const { id, session_id, ch_id, device_id } = (each ?? {}) as Record<string, unknown>;
    if (typeof device_id === 'string') watchOwner(stage, account, device_id, path);
    for (const one of [id, session_id, ch_id]) if (typeof one === 'string' && seen.length < 500) seen.push(one);
  }
}

const ghost = (random: Random) => `00000000-0000-4000-8000-${random.u32().toString(16).padStart(12, '0')}`;
