import { countOne } from '@device-insights/fanout/platform/count';
import { registerLevel } from '@device-insights/fanout/platform/operations';
import { Counter, Histogram, type Registry } from 'prom-client';
import { INSIGHT_TYPES, SQI_CLASSES, type StoredInsight } from '../insight.js';
import type { InsightStore } from '../store/store.js';
import type { Publisher } from './publisher.js';

const SECOND_MS = 1000;

/** The store as the publisher needs it, its commits timed and what they write counted. */
export function observedStore(store: Pick<InsightStore, 'commit'>, registry: Registry): Pick<InsightStore, 'commit'> {
  const time = new Histogram({
    name: 'device_insights_store_commit_seconds',
    help: 'Duration of commits of insights, by outcome',
    labelNames: ['outcome'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
    registers: [registry],
  });
  for (const outcome of ['taken', 'failed']) time.zero({ outcome });
  const note = insightCounts(registry);
  return {
    async commit(parts) {
      const stop = time.startTimer();
      try {
        const results = await store.commit(parts);
        stop({ outcome: 'taken' });
        for (const result of results) if (!result.lost) for (const insight of result.written) note(insight);
        return results;
      } catch (error) {
        stop({ outcome: 'failed' });
        throw error;
      }
    },
  };
}

/** Registers how much waits for the store. */
export function registerPublisherMetrics(registry: Registry, publisher: Publisher): void {
  const help = 'Insights that are not stored yet';
  registerLevel(registry, 'device_insights_store_waiting_insights', help, () => publisher.queued);
}

function insightCounts(registry: Registry): (insight: StoredInsight) => void {
  const latency = new Histogram({
    name: 'device_insights_insight_latency_seconds',
    help: 'Time from the end of the data of an insight, by data time, to its commit',
    buckets: [0.05, 0.1, 0.25, 0.5, 1, 2, 3, 5, 10, 30, 60, 600],
    registers: [registry],
  });
  const counts = new Map(INSIGHT_TYPES.map((type) => [type, new Map(SQI_CLASSES.map((name) => [name, 0]))]));
  new Counter({
    name: 'device_insights_insights_total',
    help: 'Stored insights, by type and class',
    labelNames: ['type', 'class'],
    registers: [registry],
    collect() {
      this.reset();
      for (const [type, classes] of counts) for (const [name, count] of classes) this.inc({ type, class: name }, count);
    },
  });
  return ({ type, sqi_class, e2e_latency_ms }) => {
    countOne(counts.get(type) ?? new Map(), sqi_class);
    latency.observe(Math.max(0, e2e_latency_ms) / SECOND_MS); // A sum that falls would look like a restart.
  };
}
