import { startRedis, type TestRedis } from '@device-insights/fanout/test-redis';
import { DeviceInsights, type Frame, type FrameSource, type Insight, type LiveInsight } from '@device-insights/sdk';
import { play } from '@device-insights/sdk/simulator';
import { expect } from 'chai';
import { startFanoutNode } from './fanout-node.js';
import { ReverseProxy } from './reverse-proxy.js';
import { KEY, Running, temporaryFolder } from './running.js';
import type { ServerProcess } from './server-process.js';

/** Number of insights from the stream: 2.5 per second of data. */
const INSIGHTS = 6000;
const SECONDS = INSIGHTS / 2.5 + 10;
/** Speed, as a multiple of real time. */
const SPEED = 80;
const RATE_HZ = 25;
const FRAME_INSTANTS = 5;
const SEED = 20_260_117;

/** Red, infrared and green light of a steady pulse of 72 per minute with breaths, cheap to compute. */
const PULSE: FrameSource = {
  id: 'gap-free',
  deviceModel: {
    name: 'Pulse',
    description: '',
    firmware_version: '',
    modality_channels: ['ppg_red', 'ppg_ir', 'ppg_green'].map((modality) => ({
      modality,
      sample_rate_hz: RATE_HZ,
      bit_depth: 18,
      num_channels: 1,
    })),
  },
  *frames(): Iterable<Frame> {
    for (let seq = 0; seq < SECONDS * RATE_HZ; seq += FRAME_INSTANTS)
      for (const [channel, depth] of [0.01, 0.02, 0.03].entries()) {
        const samples = Float64Array.from({ length: FRAME_INSTANTS }, (_, i) => light((seq + i) / RATE_HZ, depth));
        yield { channel, seq, ts: (seq * 1000) / RATE_HZ, samples, at: ((seq + FRAME_INSTANTS) * 1000) / RATE_HZ };
      }
  },
};

function light(t: number, depth: number): number {
  const breath = Math.sin(2 * Math.PI * 0.25 * t);
  const pulse = Math.sin(2 * Math.PI * 1.2 * t) + 0.4 * Math.sin(4 * Math.PI * 1.2 * t + 1);
  return Math.round(100_000 * (1 - depth * pulse * (1 + 0.15 * breath)) + 300 * breath);
}

/** Numbers from 0 to 1 from a seed (the quick generator of Numerical Recipes). */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

const identity = ({ session_id, type, ts }: Pick<Insight, 'session_id' | 'type' | 'ts'>) =>
  `${session_id} ${type} ${ts}`;

describe('a live subscription of the SDK', function () {
  this.timeout(240_000);
  let folder: ReturnType<typeof temporaryFolder>;
  let redis: TestRedis;
  let gateway: Running;
  let node: ServerProcess;
  let proxy: ReverseProxy;

  const env = () => ({ DATA_DIR: folder.path, REDIS_URL: redis.url });

  beforeEach(async () => {
    folder = temporaryFolder();
    redis = await startRedis();
    gateway = await Running.start(env());
    node = await startFanoutNode(env());
    proxy = await ReverseProxy.open(gateway.url, node.url);
  });
  afterEach(async () => {
    proxy?.close();
    await Promise.all([gateway?.end('SIGKILL'), node?.end('SIGKILL')]);
    await redis?.stop();
    folder.remove();
  });

  /** Kills one of the servers, as a crash would, and starts it again. */
  async function crash(which: number): Promise<void> {
    if (which < 1 / 3) {
      await gateway.end('SIGKILL');
      gateway = await Running.start(env());
      proxy.gateway = gateway.url;
    } else if (which < 2 / 3) {
      await node.end('SIGKILL');
      node = await startFanoutNode(env());
      proxy.node = node.url;
    } else {
      await redis.kill();
      await redis.restart();
    }
  }

  it(`gives each of ${INSIGHTS} insights once while gateway, fan-out node and Redis are killed at random, in order`, async () => {
    const backoff = { baseMs: 50, maxMs: 500 };
    const client = new DeviceInsights({ baseUrl: proxy.url, apiKey: KEY, backoff, retries: 5 });
    const model = await client.deviceModels.create(PULSE.deviceModel);
    const holes: unknown[] = [];
    const live = client.live.subscribe({ onHole: (hole) => holes.push(hole) });
    await live.subscribed();
    const seen: LiveInsight[] = [];
    const reading = (async () => {
      for await (const insight of live) seen.push(insight);
    })();

    const random = seeded(SEED);
    const device = client.device({ deviceId: PULSE.id, deviceModelId: model.id });
    let over = false;
    let crashes = 0;
    const streaming = play(PULSE, device, { speed: SPEED, startTime: Date.now() - 1000 * SECONDS })
      .then(() => device.end())
      .finally(() => {
        over = true;
      });
    while (!over) {
      await Promise.race([streaming, new Promise((resolve) => setTimeout(resolve, 1000 + 3000 * random()))]);
      if (over) break;
      await crash(random());
      crashes++;
    }
    await streaming;

    const stored: Insight[] = [];
    for await (const insight of client.insights.list({ since: 0, limit: 1000 })) stored.push(insight);
    const deadline = Date.now() + 20_000;
    while (seen.length < stored.length && Date.now() < deadline)
      await new Promise((resolve) => setTimeout(resolve, 50));
    live.close();
    await reading;
    console.log(
      `      ${stored.length} insights, ${crashes} crashes, ${live.reconnects} reconnects, ${live.repaired} repaired, device ${JSON.stringify(device.counters)}`,
    );

    expect(crashes).to.be.greaterThan(5);
    expect(stored.length).to.be.greaterThan(0.9 * INSIGHTS);
    expect(holes).to.deep.equal([]);
    expect(new Set(seen.map(identity)).size, 'once').to.equal(seen.length);
    expect(new Set(seen.map(identity))).to.deep.equal(new Set(stored.map(identity)));
    const last = new Map<string, number>();
    for (const { session_id, type, ts } of seen) {
      const before = last.get(`${session_id} ${type}`) ?? 0;
      expect(ts, 'in order').to.be.greaterThan(before);
      last.set(`${session_id} ${type}`, ts);
    }
  });
});
