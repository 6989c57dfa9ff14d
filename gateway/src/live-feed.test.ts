import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { systemClock } from '@device-insights/fanout/platform/clock';
import { portOf } from '@device-insights/fanout/platform/http-server';
import { ManualClock } from '@device-insights/fanout/platform/manual-clock.fixture';
import { startRedis, type TestRedis } from '@device-insights/fanout/test-redis';
import { expect } from 'chai';
import { type Logger, pino } from 'pino';
import { Registry } from 'prom-client';
import { parseConfig } from './config.js';
import { KeyRing } from './keys/key-ring.js';
import { openLiveFeed } from './live-feed.js';
import { openTemporaryStore } from './store/embedded/temporary-store.fixture.js';
import { sampleKey } from './store/suite/samples.js';

/** A log that calls back with each line. */
function lineLog(run: (line: Record<string, unknown>) => void): Logger {
  return pino({ level: 'info' }, { write: (line) => run(JSON.parse(line) as Record<string, unknown>) });
}

describe('the live feed over a Redis that accepts and never answers', () => {
  it('opens its connections at once, so that a start waits for one handshake only', async () => {
    const store = await openTemporaryStore();
    const sockets: Socket[] = [];
    const silent = createServer((socket) => void sockets.push(socket.on('error', () => {}))).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const config = await parseConfig({ REDIS_URL: `redis://127.0.0.1:${portOf(silent)}` });
    const ring = new KeyRing(store, systemClock, { warn: () => {} });
    const opening = openLiveFeed(config, ring, new Registry(), pino({ level: 'silent' }));
    while (sockets.length < 3) await once(silent, 'connection');
    expect(sockets.map(({ readableEnded, destroyed }) => readableEnded || destroyed)).to.deep.equal([
      false,
      false,
      false,
    ]);
    silent.close();
    for (const socket of sockets) socket.destroy();
    const feed = await opening;
    await feed.fanout?.drain(0);
    await feed.close();
    await store.close();
  });
});

describe('the live feed over Redis', function () {
  this.timeout(120_000); // The first run may have to install the server.
  let redis: TestRedis;

  before(async () => {
    redis = await startRedis();
  });
  after(() => redis.stop());

  it('takes from the nodes the keys that were erased while this process stood still', async () => {
    const clock = new ManualClock(1_763_600_000_000);
    const store = await openTemporaryStore(clock);
    const [kept, erased] = [sampleKey(), sampleKey({ user: 'anna' })];
    for (const key of [kept, erased]) await store.addKey(key);
    const ring = new KeyRing(store, clock, { warn: () => {} });
    await ring.poll();
    let onCopy: (line: Record<string, unknown>) => void = () => {};
    const copied = new Promise<Record<string, unknown>>((resolve) => {
      onCopy = (line) => {
        if (line.msg === 'keys copied to Redis' && line.gone !== 0) resolve(line);
      };
    });
    const config = await parseConfig({ REDIS_URL: redis.url });
    const feed = await openLiveFeed(
      config,
      ring,
      new Registry(),
      lineLog((line) => onCopy(line)),
    );
    try {
      await store.revokeKey(erased.id, clock.now());
      await store.eraseKeys(erased.accountId, 'anna', 9);
      clock.skip(8000);
      await ring.poll();
      expect(await copied).to.include({ keys: 1, gone: 1 });
    } finally {
      await feed.fanout?.drain(0);
      await feed.close();
      await store.close();
    }
  });
});
