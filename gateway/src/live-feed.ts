import { createFanout, type Fanout } from '@device-insights/fanout';
import type { Bus } from '@device-insights/fanout/bus';
import { createMemoryBus } from '@device-insights/fanout/bus/memory';
import { createRedisBus } from '@device-insights/fanout/bus/redis';
import { KeyMirror } from '@device-insights/fanout/key-mirror';
import { registerFanoutMetrics, timed } from '@device-insights/fanout/metrics';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import type { Config } from './config.js';
import type { KeyRing } from './key-ring.js';
import type { Store } from './store/store.js';
import { storeKeys } from './store-keys.js';

/** How long the bus may take to bring the health check's message round, ms. */
const BUS_ROUND = 1000;

/** How insights leave this gateway: the bus, and the subscriber sockets if it has them. */
export interface LiveFeed {
  readonly bus: Bus;
  /** Null where this gateway serves no subscribers. */
  readonly fanout: Fanout | null;
  /** Whether other gateways and nodes see what is published here. */
  readonly shared: boolean;
  /** Rejects, saying why, where subscribers would get nothing. */
  check(): Promise<void>;
  close(): Promise<void>;
}

/** The live feed that the configuration asks for: over Redis where it has a URL, else within this process. */
export async function openLiveFeed(
  config: Config,
  store: Store,
  keys: KeyRing,
  registry: Registry,
  log: Logger,
): Promise<LiveFeed> {
  const feed = config.redisUrl === null ? ownFeed() : await redisFeed(config, config.redisUrl, store, keys, log);
  const bus = timed(feed.bus, registry);
  const fanout = config.fanoutMounted ? createFanout({ bus, keys, log, flushMs: config.fanoutFlushMs }) : null;
  if (fanout) registerFanoutMetrics(registry, fanout);
  return { ...feed, bus, fanout };
}

type Feed = Omit<LiveFeed, 'fanout'>;

function ownFeed(): Feed {
  const bus = createMemoryBus();
  return { bus, shared: false, check: () => bus.probe(BUS_ROUND), close: () => bus.close() };
}

async function redisFeed(config: Config, url: string, store: Store, keys: KeyRing, log: Logger): Promise<Feed> {
  const bus = await createRedisBus({ url, log, serves: config.fanoutMounted });
  const mirror = new KeyMirror({ url, log, source: storeKeys(store, keys) });
  await mirror.start();
  const stopTelling = keys.onRevoked((hash) => void mirror.revoke(hash));
  return {
    bus,
    shared: true,
    async check() {
      await bus.probe(BUS_ROUND);
      if (bus.nodesAlive === 0) throw new Error('no fan-out node is alive');
    },
    async close() {
      stopTelling();
      mirror.close();
      await bus.close();
    },
  };
}
