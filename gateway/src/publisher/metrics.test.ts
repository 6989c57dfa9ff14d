import { ManualClock } from '@device-insights/fanout/platform/manual-clock.fixture';
import { expect } from 'chai';
import { Registry } from 'prom-client';
import { openTemporaryStore } from '../store/embedded/temporary-store.fixture.js';
import { opened, partOf, sampleInsight } from '../store/suite/samples.js';
import { observedStore } from './metrics.js';

describe('the metrics of publication', () => {
  it('count an insight as without delay while the clock of the service is behind that of the device', async () => {
    const store = await openTemporaryStore(new ManualClock());
    const registry = new Registry();
    const session = await opened(store);
    const insight = sampleInsight(session, 60_000, 20_000);
    expect(insight.e2e_latency_ms).to.equal(-40_000);
    await observedStore(store, registry).commit([partOf(session, [insight])]);
    const lines = (await registry.metrics()).split('\n');
    expect(lines).to.include('device_insights_insight_latency_seconds_sum 0');
    expect(lines).to.include('device_insights_insight_latency_seconds_count 1');
    await store.close();
  });
});
