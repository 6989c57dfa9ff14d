import type { Clock } from './clock.js';

/** What `GET /v1/stream/health` answers. */
export interface Health {
  readonly ok: boolean;
  readonly ingest: boolean;
  readonly subscribe: boolean;
  /** Why one of them is false. */
  readonly reason?: string;
}

/** One thing that must work: resolves, or rejects with why not. */
export type Check = () => Promise<void>;

/** An answer is good for this long, ms: anybody may ask, and asking costs a write. */
const FRESH = 1000;

/** Answers whether ingest and subscribe work by trying what they need. Calls at the same time share one trial. */
export function healthOf(ingest: Check, subscribe: Check, clock: Clock): () => Promise<Health> {
  let last: { at: number; health: Promise<Health> } | null = null;
  return () => {
    const now = clock.now();
    if (!last || now - last.at >= FRESH) last = { at: now, health: trial(ingest, subscribe) };
    return last.health;
  };
}

/** Throws, saying why, where something does not work. */
export function assertHealthy({ ok, reason }: Health): void {
  if (!ok) throw new Error(reason);
}

async function trial(ingest: Check, subscribe: Check): Promise<Health> {
  const [i, s] = await Promise.allSettled([ingest(), subscribe()]);
  const reasons = [fault('ingest', i), fault('subscribe', s)].filter((reason) => reason !== null);
  const parts = { ingest: i.status === 'fulfilled', subscribe: s.status === 'fulfilled' };
  const ok = reasons.length === 0;
  return ok ? { ok, ...parts } : { ok, ...parts, reason: reasons.join('; ') };
}

function fault(name: string, result: PromiseSettledResult<void>): string | null {
  if (result.status === 'fulfilled') return null;
  return `${name}: ${result.reason instanceof Error ? result.reason.message : String(result.reason)}`;
}
