import { createServer, type Server } from 'node:http';
import type { Core } from '@device-insights/dsp-wasm';
import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import type { CoreLoad } from './analysis/core-load.js';
import type { Health } from './health.js';

/** A registry with the process's own metrics. */
export function processMetrics(): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  return registry;
}

/** Registers what the signal core does: its sessions, its time, and the data time that it got through. */
export function registerAnalysisMetrics(registry: Registry, core: Core, load: CoreLoad): void {
  const registers = [registry];
  new Gauge({
    name: 'analysis_sessions',
    help: 'Sessions in the signal core',
    registers,
    collect() {
      this.set(core.openSessions);
    },
  });
  const totals = [
    ['analysis_core_seconds_total', 'Time spent in the signal core', () => load.coreSeconds],
    ['analysis_session_seconds_total', 'Data time analysed, summed over sessions', () => load.sessionSeconds],
  ] as const;
  for (const [name, help, read] of totals)
    new Counter({
      name,
      help,
      registers,
      collect() {
        this.reset();
        this.inc(read());
      },
    });
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
