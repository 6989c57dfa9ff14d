import { randomUUID } from 'node:crypto';
import type { RequestListener } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { createRedisBus } from './bus/redis/redis.js';
import type { NodeConfig } from './config.js';
import { Fanout } from './fanout.js';
import { CopiedKeys } from './keys/copied-keys.js';
import { registerDropped, registerFanoutMetrics } from './metrics.js';
import { systemClock } from './platform/clock.js';
import { sharedTrial } from './platform/health-trial.js';
import { createHttpServer, listen, pathOf, portOf, stopReuse } from './platform/http-server.js';
import type { Log } from './platform/log.js';
import { messageOf } from './platform/message-of.js';
import { operations, processMetrics, registerDrops, registerParts } from './platform/operations.js';
import { USE_WEBSOCKET } from './platform/refusal.js';

/** A stand-alone fan-out node: without a store or any files. */
interface StandaloneNode {
  readonly port: number;
  readonly metricsPort: number | undefined;
  /** Drains and closes everything; resolves once all sockets are closed. */
  stop(): Promise<void>;
}

const PROBE_LIMIT_MS = 2000;
const SUBSCRIBE_PATH = '/stream/subscribe';

/** Starts a node, even if Redis cannot be reached yet: it refuses with 1013 until it can. */
export async function startNode(config: NodeConfig, log: Log): Promise<StandaloneNode> {
  const bus = await createRedisBus({ url: config.redisUrl, log, serves: true });
  const keys = new CopiedKeys({ url: config.redisUrl, log });
  await keys.start();
  const { maxLagMs, maxBufferedBytes } = config;
  const fanout = new Fanout({ bus, keys, log, maxLagMs, maxBufferedBytes });
  const upgrades = new Map([[SUBSCRIBE_PATH, fanout.handleUpgrade.bind(fanout)]]);
  const server = createHttpServer(refuseRequest, log, { upgrades });
  await listen(server, config.host, config.port, 'PORT');
  let draining = false;
  /** The parts that subscribers need, with their faults: the bus returns a probe message, and keys can be checked. */
  const trial = sharedTrial(async () => {
    const parts = { bus: bus.probe(PROBE_LIMIT_MS), keys: keys.probe() };
    const faults = Object.entries(parts).map(
      async ([part, probe]) => [part, await probe.then(works, messageOf)] as const,
    );
    return new Map(await Promise.all(faults));
  }, systemClock);
  const health = async () => {
    if (draining) throw new Error('the node is shutting down');
    for (const fault of (await trial()).values()) if (fault !== null) throw new Error(fault);
  };
  const registry = processMetrics();
  registerFanoutMetrics(registry, fanout);
  registerDropped(registry, () => bus.dropped + keys.dropped);
  registerDrops(registry, server);
  registerParts(registry, trial);
  const metrics = config.metricsPort === undefined ? undefined : operations(registry, { health, ready: health }, log);
  if (metrics) await listen(metrics, config.metricsHost, config.metricsPort ?? 0, 'METRICS_PORT');
  return {
    port: portOf(server),
    metricsPort: metrics && portOf(metrics),
    stop: async () => {
      draining = true;
      stopReuse(server);
      await setTimeout(config.shutdownDelayMs);
      server.close(); // First, so that a proxy sends reconnecting clients to other nodes.
      await fanout.drain(config.drainMs);
      metrics?.close();
      keys.close();
      await bus.close();
    },
  };
}

const works = () => null;

/** A node serves only its socket. */
const refuseRequest: RequestListener = (request, response) => {
  const isSocket = pathOf(request) === SUBSCRIBE_PATH;
  const detail = isSocket ? USE_WEBSOCKET : 'there is no resource at this path';
  const headers = { 'Content-Type': 'application/json; charset=utf-8', 'X-Request-Id': randomUUID() };
  const upgrade = isSocket && { Connection: 'Upgrade', Upgrade: 'websocket' };
  response.writeHead(isSocket ? 426 : 404, { ...headers, ...upgrade }).end(JSON.stringify({ detail }));
};
