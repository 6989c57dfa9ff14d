import { Fanout } from '@device-insights/fanout';
import type { Bus } from '@device-insights/fanout/bus';
import { createMemoryBus } from '@device-insights/fanout/bus/memory';
import type { KeyCopier } from '@device-insights/fanout/key-copier';
import { registerDropped, registerFanoutMetrics, timed } from '@device-insights/fanout/metrics';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import type { Config } from './config.js';
import type { Part } from './health.js';
import type { KeyRing } from './keys/key-ring.js';

/** Time that the bus has to return the health check's message, ms. */
const BUS_ROUND_MS = 1000;

/** The parts through which insights leave this gateway: the bus, and the subscriber sockets if it has them. */
export interface LiveFeed {
  readonly bus: Bus;
  /** Null if this gateway serves no subscribers. */
  readonly fanout: Fanout | null;
  /** Whether other gateways and nodes receive the insights published here. */
  readonly shared: boolean;
  /** The parts without which subscribers would receive nothing. */
  readonly needs: readonly Part[];
  close(): Promise<void>;
}

/** The configured live feed: over Redis if it has a URL, otherwise within this process. */
export async function openLiveFeed(config: Config, keys: KeyRing, registry: Registry, log: Logger): Promise<LiveFeed> {
  const feed = config.redisUrl === null ? ownFeed() : await redisFeed(config, config.redisUrl, keys, registry, log);
  const bus = timed(feed.bus, registry);
  const fanout = config.fanoutMounted ? new Fanout({ bus, keys, log }) : null;
  if (fanout) registerFanoutMetrics(registry, fanout);
  return { ...feed, bus, fanout };
}

type Feed = Omit<LiveFeed, 'fanout'>;

function ownFeed(): Feed {
  const bus = createMemoryBus();
  return { bus, shared: false, needs: [round(bus)], close: () => bus.close() };
}

async function redisFeed(config: Config, url: string, keys: KeyRing, registry: Registry, log: Logger): Promise<Feed> {
  // Loaded only where it is used: the client of Redis is a tenth of what a start loads.
  const { createRedisBus } = await import('@device-insights/fanout/bus/redis');
  const { KeyCopier } = await import('@device-insights/fanout/key-copier');
  const copier = new KeyCopier({ url, log, source: keys });
  // At once: a Redis that accepts and never answers holds the start up by one handshake, and a SIGTERM waits for the start.
  const [bus] = await Promise.all([createRedisBus({ url, log, serves: config.fanoutMounted }), copier.start()]);
  const stopTelling = keys.onRevoked(
    (hash) => void copier.revoke(hash),
    () => [], // The copier finds them itself.
  );
  const stopRenewing = keys.onMissed(() => void copier.renew());
  registerDropped(registry, () => bus.dropped + copier.dropped);
  return {
    bus,
    shared: true,
    needs: [round(bus), copy(copier), node(bus)],
    async close() {
      stopTelling();
      stopRenewing();
      copier.close();
      await bus.close();
    },
  };
}

function round(bus: Bus): Part {
  return { name: 'bus', fault: 'the bus does not work', try: () => bus.probe(BUS_ROUND_MS) };
}

function copy(copier: KeyCopier): Part {
  const fault = 'the keys cannot be written to Redis: check its memory, its disk and the rights of its user';
  return { name: 'keys', fault, try: () => copier.probe() };
}

function node(bus: { readonly nodesAlive: number }): Part {
  const fault = 'no fan-out node is alive';
  return {
    name: 'nodes',
    fault,
    try: () => {
      if (bus.nodesAlive === 0) throw new Error('no fan-out node has sent a heartbeat recently');
    },
  };
}
