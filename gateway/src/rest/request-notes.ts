import type { Log } from '@device-insights/fanout/process/log';
import { LogLimit } from '@device-insights/fanout/process/log-limit';
import { Histogram, type Registry } from 'prom-client';
import type { Clock } from '../clock.js';

/** Lines of requests that the log takes a second, and of those that changed something; the others are counted. */
const LINES = 100;
const SECOND_MS = 1000;
const SAFE: readonly string[] = ['GET', 'HEAD', 'OPTIONS'];
const METHODS: readonly string[] = [...SAFE, 'POST', 'PUT', 'DELETE'];
/** Label for requests with an unknown path or an unknown method. */
const OTHER = 'other';

/** Notes each request when it has been answered: in the log, and for Prometheus. */
export type Observe = (request: ObservedRequest) => void;

interface ObservedRequest {
  readonly method: string;
  /** Template of the route that took it, such as `/v1/sessions/:id`; undefined where none did. */
  readonly route: string | undefined;
  readonly path: string;
  readonly status: number;
  /** Whether the client left before its answer was whole. */
  readonly cut: boolean;
  readonly ms: number;
  readonly requestId: string;
  /** The few characters of the key that name it to people; undefined where there was no good key. */
  readonly keyPrefix: string | undefined;
}

/**
 * Makes the note of a gateway's requests. Those that changed something are called so, and have lines of their own: no flood of others keeps
 * them out of the log.
 */
export function requestNotes(registry: Registry, log: Pick<Log, 'info'>, clock: Clock): Observe {
  const limit = new LogLimit(clock, LINES);
  const times = new Histogram({
    name: 'device_insights_http_request_seconds',
    help: 'Time of a request, from its headers to the end of its answer, by method, route and status',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
    registers: [registry],
  });
  return ({ method, route = OTHER, status, ms, ...rest }) => {
    times.observe({ method: METHODS.includes(method) ? method : OTHER, route, status }, ms / SECOND_MS);
    const text = status < 400 && !SAFE.includes(method) ? 'change' : 'request';
    if (!limit.admits(text, (times) => log.info({ times }, `more of this: ${text}`))) return;
    const { path, cut, ...named } = rest;
    const place = route === OTHER ? { path } : { route };
    log.info({ method, ...place, status, ...(cut && { cut }), ms: Math.round(ms * 10) / 10, ...named }, text);
  };
}
