import { createCore } from '@device-insights/dsp-wasm';
import type { Bus } from '@device-insights/fanout/bus';
import type { Clock } from '@device-insights/fanout/platform/clock';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import { CoreLoad, registerAnalysisMetrics } from '../analysis/core-load.js';
import type { Config } from '../config.js';
import { Ingest } from '../ingest/ingest.js';
import { registerIngestMetrics } from '../ingest/metrics.js';
import type { KeyRing } from '../keys/key-ring.js';
import type { Heartbeat } from '../peers/heartbeat.js';
import type { Heartbeats } from '../peers/heartbeats.js';
import { observedStore, registerPublisherMetrics } from '../publisher/metrics.js';
import { Publisher } from '../publisher/publisher.js';
import type { Store } from '../store/store.js';

/** What streaming needs of the rest of the service. */
interface StreamingOptions {
  readonly config: Config;
  readonly store: Store;
  readonly keys: KeyRing;
  readonly bus: Bus;
  readonly registry: Registry;
  /** Id of this gateway in the store. */
  readonly gateway: string;
  readonly heartbeat: Heartbeat;
  readonly heartbeats: Heartbeats;
  readonly clock: Clock;
  readonly log: Logger;
}

/** The parts between a device's socket and the bus. */
interface Streaming {
  readonly ingest: Ingest;
  readonly publisher: Publisher;
  /** The signal core, and the time that it takes. */
  readonly core: CoreLoad;
}

/** Opens the way of the data, from the devices' sockets through the signal core to the store and the bus. */
export async function openStreaming(options: StreamingOptions): Promise<Streaming> {
  const { config, store, keys, bus, registry, gateway, heartbeat, heartbeats, clock, log } = options;
  const publisher = new Publisher({ store: observedStore(store, registry), bus, clock, log });
  registerPublisherMetrics(registry, publisher);
  const core = new CoreLoad(await createCore({ maxSessions: config.maxSessions }).catch(withoutMemory));
  registerAnalysisMetrics(registry, core);
  const ingest = new Ingest({
    store,
    keys: keys.ofDevices,
    publisher,
    core,
    clock,
    log,
    gateway,
    heartbeat,
    heartbeats,
    graceMs: config.sessionGraceMs,
    limits: config,
  });
  registerIngestMetrics(registry, ingest);
  return { ingest, publisher, core };
}

function withoutMemory(cause: unknown): never {
  if (!(cause instanceof RangeError)) throw cause;
  const advice =
    'lower MAX_SESSIONS, or allow the process 32 GB of address space (ulimit -v, LimitAS), of which little is used';
  throw new Error(`the memory of the signal core cannot be allocated (${cause.message}): ${advice}`, { cause });
}
