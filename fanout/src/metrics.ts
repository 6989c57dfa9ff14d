import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { Bus } from './bus/bus.js';
import type { Fanout } from './fanout.js';
import { registerTotal } from './operations.js';

/** Registers what the subscriber sockets count, for Prometheus. */
export function registerFanoutMetrics(registry: Registry, fanout: Fanout): void {
  const registers = [registry];
  const { counters } = fanout;
  new Gauge({
    name: 'fanout_connections',
    help: 'Open subscriber sockets',
    registers,
    collect() {
      this.set(fanout.connections);
    },
  });
  new Gauge({
    name: 'fanout_lag_seconds',
    help: 'Age of the oldest write to a subscriber that the kernel has not taken whole',
    registers,
    collect() {
      this.set(fanout.lagMs / 1000);
    },
  });
  new Counter({
    name: 'fanout_deliveries_total',
    help: 'Messages times subscribers connected, by outcome; all outcomes together are fanout_connected_total',
    labelNames: ['outcome'],
    registers,
    collect() {
      this.reset();
      for (const outcome of ['delivered', 'dropped', 'filtered'] as const) this.inc({ outcome }, counters[outcome]);
    },
  });
  const totals = [
    [
      'fanout_connected_total',
      'Messages times the subscribers of their account then connected',
      () => counters.connected,
    ],
    ['fanout_evictions_total', 'Subscribers closed because they could not follow', () => counters.evicted],
    ['bus_lost_total', 'Holes: times that messages of an account may have been lost', () => counters.holes],
  ] as const;
  for (const [name, help, read] of totals) registerTotal(registry, name, help, read);
}

/** The same bus, its publishes timed from the call to Redis's answer. */
export function timed(bus: Bus, registry: Registry): Bus {
  const latency = new Histogram({
    name: 'bus_publish_seconds',
    help: 'From publish to the bus having taken it, or refused it',
    labelNames: ['outcome'],
    buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1, 5],
    registers: [registry],
  });
  return {
    async publish(account, messages) {
      const stop = latency.startTimer();
      try {
        await bus.publish(account, messages);
        stop({ outcome: 'taken' });
      } catch (error) {
        stop({ outcome: 'refused' });
        throw error;
      }
    },
    subscribe: (account, listener) => bus.subscribe(account, listener),
    probe: (timeoutMs) => bus.probe(timeoutMs),
    close: () => bus.close(),
  };
}
