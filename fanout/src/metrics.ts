import { CLOSE, type CloseReason } from '@device-insights/contract/close-codes';
import { Histogram, type Registry } from 'prom-client';
import type { Bus } from './bus/bus.js';
import type { Fanout } from './fanout.js';
import { registerLevel, registerTotal, registerTotals } from './platform/operations.js';

const DELIVERIES = ['delivered', 'dropped', 'filtered'] as const;

/** Registers the counters of the subscriber sockets for Prometheus. */
export function registerFanoutMetrics(registry: Registry, fanout: Fanout): void {
  const { counters } = fanout;
  registerLevel(registry, 'device_insights_fanout_connections', 'Open subscriber sockets', () => fanout.connections);
  registerLevel(
    registry,
    'device_insights_fanout_lag_seconds',
    'Age of the oldest write to a subscriber that the kernel has not completely accepted',
    () => fanout.lagMs / 1000,
  );
  registerTotals(
    registry,
    'device_insights_fanout_deliveries_total',
    'Messages multiplied by connected subscribers, by outcome; the sum is device_insights_fanout_connected_total',
    'outcome',
    DELIVERIES,
    () => DELIVERIES.map((outcome) => [outcome, counters[outcome]] as const),
  );
  registerTotals(
    registry,
    'device_insights_fanout_refused_total',
    'Subscribers that were not admitted, by reason of the close code',
    'reason',
    Object.keys(CLOSE) as CloseReason[],
    () => counters.refused,
  );
  const totals = [
    [
      'device_insights_fanout_connected_total',
      'Messages multiplied by the subscribers of their account connected at that time',
      () => counters.connected,
    ],
    ['device_insights_fanout_evictions_total', 'Subscribers closed because they were too slow', () => counters.evicted],
    [
      'device_insights_bus_lost_total',
      'Number of times that live messages of an account may have been lost',
      () => counters.losses,
    ],
  ] as const;
  for (const [name, help, read] of totals) registerTotal(registry, name, help, read);
}

/** Registers the number of messages from Redis that were dropped. */
export function registerDropped(registry: Registry, read: () => number): void {
  const help = 'Messages from Redis that were dropped: not in the format of this service, or above a limit';
  registerTotal(registry, 'device_insights_redis_dropped_total', help, read);
}

/** The same bus, with its publishes timed from the call to Redis's answer. */
export function timed(bus: Bus, registry: Registry): Bus {
  const latency = new Histogram({
    name: 'device_insights_bus_publish_seconds',
    help: 'Time from the publication of a message until the bus has accepted or refused it',
    labelNames: ['outcome'],
    buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1, 5],
    registers: [registry],
  });
  for (const outcome of ['taken', 'refused']) latency.zero({ outcome });
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
    declareLoss: (account) => bus.declareLoss(account),
    subscribe: (account, listener) => bus.subscribe(account, listener),
    probe: (timeoutMs) => bus.probe(timeoutMs),
    close: () => bus.close(),
  };
}
