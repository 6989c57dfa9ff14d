import type { Clock } from '@device-insights/fanout/platform/clock';
import { within } from '@device-insights/fanout/platform/deadline';
import { sharedTrial } from '@device-insights/fanout/platform/health-trial';
import type { Log } from '@device-insights/fanout/platform/log';
import { messageOf } from '@device-insights/fanout/platform/message-of';
import { shared } from '@device-insights/fanout/platform/promises';

/** The answer of `GET /v1/stream/health`. */
export interface Health {
  readonly ok: boolean;
  readonly ingest: boolean;
  readonly subscribe: boolean;
  /** The parts that do not work, if any. It is public, and names no address. */
  readonly reason?: string;
  /** The cause, for operators only. */
  readonly cause?: string;
}

/** The health with that of each part, by name: its fault with the cause, or null. */
export interface Found {
  readonly health: Health;
  readonly parts: ReadonlyMap<string, string | null>;
}

/** A part that must work. */
export interface Part {
  /** Its name in the metrics. */
  readonly name: string;
  /** Public description of the fault: without addresses and paths. */
  readonly fault: string;
  /** Tries the part: rejects or throws the cause if it does not work. */
  try(): Promise<void> | void;
}

/** The parts that ingest and subscribe need, in the order in which they are tried. */
interface Parts {
  readonly ingest: readonly Part[];
  readonly subscribe: readonly Part[];
}

/** A part that has not answered for this long does not work, ms: a disk may hang without an error. */
const ANSWER_MS = 2000;
/** Number of logged causes that are remembered: those of a driver may have numbers in them. */
const MAX_TOLD = 100;

/**
 * Answers whether ingest and subscribe work, by trying the parts that they need. Concurrent calls share one trial. A
 * fault is logged once with its cause, and again with each other cause that it shows: an examination may have found the
 * data damaged.
 */
export function healthOf(parts: Parts, clock: Clock, log: Pick<Log, 'info' | 'error'>): () => Promise<Found> {
  /** Causes that were logged since all parts worked. */
  const told = new Set<string>();
  const tried = { ingest: parts.ingest.map(sharing), subscribe: parts.subscribe.map(sharing) };
  const note = (health: Health) => {
    const { reason, cause } = health;
    if (cause === undefined) {
      if (told.size > 0) log.info({}, 'all parts work again');
      told.clear();
    } else if (!told.has(cause)) {
      if (told.size >= MAX_TOLD) told.clear();
      told.add(cause);
      log.error({ reason, cause }, 'a part of the service does not work');
    }
  };
  return sharedTrial(async () => {
    const found = await trial(tried, clock);
    note(found.health);
    return found;
  }, clock);
}

/** Throws an error with the cause unless all parts work, or, for `ingest`, the parts of ingest. */
export function assertHealthy(health: Health, what: 'ok' | 'ingest'): void {
  if (!health[what]) throw new Error(health.cause ?? health.reason);
}

/** A part whose trial under way is shared: while the part hangs, one more each second would wait with it. */
function sharing(part: Part): Part {
  return { ...part, try: shared(async () => part.try()) };
}

async function trial(parts: Parts, clock: Clock): Promise<Found> {
  const [i, s] = await Promise.all([faultsOf(parts.ingest, clock), faultsOf(parts.subscribe, clock)]);
  const found = [
    ['ingest', i.find(({ cause }) => cause !== null)],
    ['subscribe', s.find(({ cause }) => cause !== null)],
  ] as const;
  const [ingest, subscribe] = found.map(([, fault]) => fault === undefined) as [boolean, boolean];
  const works = { ok: ingest && subscribe, ingest, subscribe };
  const named = new Map([...i, ...s].map(({ name, cause }) => [name, cause]));
  if (works.ok) return { health: works, parts: named };
  const all = (field: 'fault' | 'cause') =>
    found.flatMap(([what, fault]) => (fault ? [`${what}: ${fault[field]}`] : [])).join('; ');
  return { health: { ...works, reason: all('fault'), cause: all('cause') }, parts: named };
}

/** The fault of each part, in order, with its cause; null if it works. */
function faultsOf(parts: readonly Part[], clock: Clock) {
  return Promise.all(
    parts.map(async ({ name, fault, try: tried }) => {
      try {
        if (!(await within(ANSWER_MS, Promise.resolve(tried()), clock)))
          throw new Error(`no answer for ${ANSWER_MS / 1000} s`);
        return { name, fault, cause: null };
      } catch (error) {
        return { name, fault, cause: `${fault}: ${messageOf(error)}` };
      }
    }),
  );
}
