import type { Clock } from '@device-insights/fanout/platform/clock';
import { within } from '@device-insights/fanout/platform/deadline';
import { sharedTrial } from '@device-insights/fanout/platform/health-trial';
import type { Log } from '@device-insights/fanout/platform/log';
import { messageOf } from '@device-insights/fanout/platform/message-of';

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

/** A part that must work. */
export interface Part {
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
export function healthOf(parts: Parts, clock: Clock, log: Pick<Log, 'info' | 'error'>): () => Promise<Health> {
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
    const health = await trial(tried, clock);
    note(health);
    return health;
  }, clock);
}

/** Throws an error with the cause if a part does not work. */
export function assertHealthy({ ok, reason, cause }: Health): void {
  if (!ok) throw new Error(cause ?? reason);
}

/** A part whose trial under way is shared: while the part hangs, one more each second would wait with it. */
function sharing(part: Part): Part {
  let underWay: Promise<void> | null = null;
  const start = async () => part.try();
  return {
    fault: part.fault,
    try: () => {
      underWay ??= start().finally(() => {
        underWay = null;
      });
      return underWay;
    },
  };
}

async function trial(parts: Parts, clock: Clock): Promise<Health> {
  const [i, s] = await Promise.all([fault('ingest', parts.ingest, clock), fault('subscribe', parts.subscribe, clock)]);
  const found = [i, s].filter((each) => each !== null);
  const works = { ok: found.length === 0, ingest: i === null, subscribe: s === null };
  if (works.ok) return works;
  const all = (field: 'reason' | 'cause') => found.map((each) => each[field]).join('; ');
  return { ...works, reason: all('reason'), cause: all('cause') };
}

/** The first part that does not work. */
async function fault(
  name: string,
  parts: readonly Part[],
  clock: Clock,
): Promise<{ reason: string; cause: string } | null> {
  for (const part of parts) {
    try {
      if (!(await within(ANSWER_MS, Promise.resolve(part.try()), clock)))
        throw new Error(`no answer for ${ANSWER_MS / 1000} s`);
    } catch (error) {
      return { reason: `${name}: ${part.fault}`, cause: `${name}: ${part.fault}: ${messageOf(error)}` };
    }
  }
  return null;
}
