import type { Clock } from '@device-insights/fanout/platform/clock';
import type { Log } from '@device-insights/fanout/platform/log';
import { Histogram, type Registry } from 'prom-client';
import { infoLines } from '../info-lines.js';

const SECOND_MS = 1000;
const SAFE: readonly string[] = ['GET', 'HEAD', 'OPTIONS'];
const METHODS: readonly string[] = [...SAFE, 'POST', 'PUT', 'DELETE'];
/** Label for requests with an unknown path or an unknown method. */
const OTHER = 'other';

/** Records a request that has been answered: in the log, and for Prometheus. */
export type Observe = (request: ObservedRequest) => void;

interface ObservedRequest {
  readonly method: string;
  /** Template of the route that served it, such as `/v1/sessions/:id`; undefined if none did. */
  readonly route: string | undefined;
  readonly path: string;
  readonly status: number;
  /** Whether the client disconnected before it had the whole answer. */
  readonly cut: boolean;
  readonly ms: number;
  readonly requestId: string;
  /** The first characters of the key, by which people recognize it; undefined without a valid key. */
  readonly keyPrefix: string | undefined;
}

/**
 * Records the requests of a gateway. Successful requests that may have changed data have their own limit of log lines, so that a
 * flood of other requests does not keep them out of the log.
 */
export function requestNotes(registry: Registry, log: Pick<Log, 'info'>, clock: Clock): Observe {
  const note = infoLines(log, clock);
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
    const { path, cut, ...named } = rest;
    const place = route === OTHER ? { path } : { route };
    note({ method, ...place, status, ...(cut && { cut }), ms: Math.round(ms * 10) / 10, ...named }, text);
  };
}
