import { createServer, type Server } from 'node:http';
import { collectDefaultMetrics, Registry } from 'prom-client';
import type { Health } from './health.js';

/** A registry with the process's own metrics. */
export function processMetrics(): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  return registry;
}

/** For operators and balancers, on a port of its own: `/metrics` for Prometheus, `/healthz` with 200 or 503. */
export function operations(registry: Registry, health: () => Promise<Health>): Server {
  return createServer(async (request, response) => {
    if (request.url === '/metrics') {
      response.setHeader('Content-Type', registry.contentType).end(await registry.metrics());
    } else if (request.url === '/healthz') {
      const { ok, reason = 'ok' } = await health();
      response.writeHead(ok ? 200 : 503, { 'Content-Type': 'text/plain' }).end(`${reason}\n`);
    } else {
      response.writeHead(404).end();
    }
  });
}
