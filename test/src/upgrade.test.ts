import { expect } from 'chai';
import { App, gapsOf } from './app.js';
import { Cluster } from './cluster.js';
import { eventually } from './eventually.js';
import { Requests } from './requests.js';
import { missingOf, Stream } from './stream.js';

const CLIENTS = 2;
const DEVICES = 2;
/** Times faster than real time: little load, because what does not answer in time fails a request too. */
const SPEED = 4;
const APPS = 3;
/** Longest time that a process may take to serve again, ms. */
const START_MS = 60_000;

describe('an upgrade behind the proxy', function () {
  this.timeout(240_000);
  let cluster: Cluster;
  let requests: Requests | null = null;
  let apps: App[] = [];
  let streams: Stream[] = [];

  beforeEach(async function () {
    this.timeout(600_000); // The first run may have to install the servers.
    cluster = await Cluster.start('upgrade');
  });
  afterEach(async () => {
    await requests?.stop();
    for (const stream of streams) stream.abandon();
    for (const app of apps) app.close();
    await cluster?.close();
  });

  it('fails no request and loses no reading while each process is stopped and started in turn', async () => {
    const { proxy, gateways, nodes } = cluster;
    apps = Array.from({ length: APPS }, () => new App([proxy]));
    streams = await Promise.all(Array.from({ length: DEVICES }, () => Stream.start(proxy, { speed: SPEED })));
    requests = new Requests(proxy.url, CLIENTS);
    await eventually('insights flow', () => apps.every(({ insights }) => insights.length >= 10));

    for (const place of [...gateways, ...nodes]) {
      expect(await place.end('SIGTERM')).to.equal(0);
      await place.start();
      await eventually('it is healthy', async () => (await place.process.healthz()) === 200, START_MS);
      const before = apps.map(({ insights }) => insights.length);
      await eventually(
        'insights flow again',
        () => apps.every((app, n) => app.insights.length > (before[n] ?? 0)),
        START_MS,
      );
    }

    await requests.stop();
    expect(requests.failed).to.deep.equal([]);
    expect(requests.answered).to.be.greaterThan(50);
    for (const stream of streams) {
      const stored = await stream.end();
      expect(missingOf(stored)).to.deep.equal([]);
      for (const { connections } of apps)
        await eventually('the last have come', () =>
          connections.every((connection) => gapsOf(connection, stored).length === 0),
        );
    }
    expect(new Set(apps.flatMap(({ codes }) => codes))).to.deep.equal(new Set([1012]));
  });
});
