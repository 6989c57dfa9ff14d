import { createServer, type Server } from 'node:http';
import { Counter, collectDefaultMetrics, Registry } from 'prom-client';

/** A registry with the process's own metrics. */
export function processMetrics(): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  return registry;
}

/** Registers a total that is counted elsewhere. */
export function registerTotal(registry: Registry, name: string, help: string, read: () => number): void {
  new Counter({
    name,
    help,
    registers: [registry],
    collect() {
      this.reset();
      this.inc(read());
    },
  });
}

/**
 * For operators and balancers, on a port of its own: `/metrics` for Prometheus, and `/healthz`, 200 or 503 with the reason.
 *
 * @param health rejects, saying why, where the process cannot serve now
 */
export function operations(registry: Registry, health: () => Promise<void>): Server {
  return createServer(async (request, response) => {
    if (request.url === '/metrics') {
      response.setHeader('Content-Type', registry.contentType).end(await registry.metrics());
    } else if (request.url === '/healthz') {
      const fault = await health().then(
        () => null,
        (error: unknown) => (error instanceof Error ? error.message : String(error)),
      );
      response.writeHead(fault === null ? 200 : 503, { 'Content-Type': 'text/plain' }).end(`${fault ?? 'ok'}\n`);
    } else {
      response.writeHead(404).end();
    }
  });
}
