import type { Server } from 'node:http';
import type { Clock } from '@device-insights/fanout/platform/clock';
import { within } from '@device-insights/fanout/platform/deadline';
import { close } from '@device-insights/fanout/platform/http-server';
import type { Log } from '@device-insights/fanout/platform/log';
import type { Ingest } from './ingest/ingest.js';
import type { LiveFeed } from './live-feed.js';
import type { PeriodicTasks } from './periodic-tasks.js';
import type { Publisher } from './publisher/publisher.js';
import type { Store } from './store/store.js';

/** Maximum time for stopping, even if parts do not answer, ms: the sender of SIGTERM waits 10 s. */
const STOP_MS = 8000;
/** Part of that time that is reserved for the sockets and files after waiting for the store, ms. */
const CLOSING_MS = 3000;

/** The open parts of a service. */
interface Open {
  readonly server: Server;
  /** The operations port; null if it is disabled. */
  readonly metrics: Server | null;
  readonly ingest: Ingest;
  readonly publisher: Publisher;
  readonly feed: LiveFeed;
  readonly tasks: PeriodicTasks;
  /** Writes the gateway's heartbeat. */
  readonly beat: () => Promise<void>;
  readonly store: Store;
}

/**
 * Stores and publishes the received data, then closes everything; what does not answer in time is logged and left.
 *
 * @param drainMs time over which the closes of the subscribers are spread
 */
export async function shutDown(open: Open, drainMs: number, clock: Clock, log: Log): Promise<void> {
  const { server, metrics, ingest, publisher, feed, tasks, beat, store } = open;
  const end = clock.monotonic() + STOP_MS;
  const left = (reserve: number) => Math.max(0, end - reserve - clock.monotonic());
  await ingest.drain();
  if (!(await within(left(CLOSING_MS), publisher.drain(), clock)))
    log.error(
      { readings: publisher.queued },
      'the store accepted no more writes before the shutdown: the remaining readings are dropped',
    );
  const window = Math.min(drainMs, left(CLOSING_MS / 2));
  await within(left(CLOSING_MS / 2), feed.fanout?.drain(window) ?? Promise.resolve(), clock);
  const closed = close(server)
    .then(() => metrics && close(metrics))
    .then(() => tasks.stop())
    .then(() => beat().catch(() => undefined)) // The grace period of the sessions begins now, by the current clock.
    .then(() => feed.close())
    .then(() => store.close());
  if (!(await within(left(0), closed, clock))) log.warn({}, 'not everything could be closed before the shutdown');
}
