import { expect } from 'chai';
import { App, gapsOf, identity } from './app.js';
import { Cluster } from './cluster.js';
import { healthCheck } from './compose.js';
import { eventually } from './eventually.js';
import { KEY } from './running.js';
import type { ServerProcess } from './server-process.js';
import { Stream } from './stream.js';

describe('the proxy of docker-compose.yml', () => {
  let cluster: Cluster;
  let apps: App[] = [];
  let stream: Stream | null = null;

  before(async function () {
    this.timeout(600_000); // The first run may have to install the servers.
    cluster = await Cluster.start('proxy', { DRAIN_MS: '100' });
  });
  after(() => cluster?.close());
  beforeEach(async () => {
    for (const place of [...cluster.gateways, ...cluster.nodes]) if (!place.runs) await place.start();
  });
  afterEach(() => {
    stream?.abandon();
    for (const app of apps) app.close();
    apps = [];
  });

  const follow = async (key = KEY) => {
    const app = new App([cluster.proxy], key);
    apps.push(app);
    await eventually('the app is subscribed', () => app.current !== null);
    return app;
  };
  const gateways = () => cluster.gateways.map(({ process }) => process);
  const nodes = () => cluster.nodes.map(({ process }) => process);
  const totalOf = async (servers: readonly ServerProcess[], metric: string) =>
    (await Promise.all(servers.map((server) => server.metric(metric)))).reduce((sum, value) => sum + value, 0);

  it('serves REST: health, the errors of the service, documents', async () => {
    // A gateway knows of the nodes within a second of their start.
    const well = async () => (await Promise.all(gateways().map((gateway) => gateway.health()))).every(({ ok }) => ok);
    await eventually('the gateways know the nodes', well);
    const health = await fetch(`${cluster.proxy.url}/v1/stream/health`);
    expect(await health.json()).to.deep.equal({ ok: true, ingest: true, subscribe: true });
    const refused = await fetch(`${cluster.proxy.url}/v1/sessions`);
    expect(refused.status).to.equal(401);
    expect(await refused.json()).to.have.property('detail');
    const schema = await fetch(`${cluster.proxy.url}/openapi.json`, { headers: { authorization: `Bearer ${KEY}` } });
    expect(await schema.json()).to.have.property('openapi');
    const large = await fetch(`${cluster.proxy.url}/v1/device-models`, {
      method: 'POST',
      headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'x'.repeat(2_000_000) }),
    });
    expect(large.status).to.equal(400);
    expect(await large.json()).to.have.property('detail');
  });

  it('spreads subscribers over the fan-out nodes, and brings insights to all of them', async () => {
    const four = [await follow(), await follow(), await follow(), await follow()];
    for (const node of nodes())
      await eventually('two are at each', async () => (await node.metric('device_insights_fanout_connections')) === 2);
    stream = await Stream.start(cluster.proxy);
    await eventually('insights flow', () => four.every((app) => app.insights.length >= 5));
    const stored = await stream.end();
    for (const app of four) {
      await eventually('all have come', () => app.insights.length >= stored.length);
      expect(app.insights.map(identity)).to.have.members(stored.map(identity));
      expect(app.codes).to.deep.equal([]);
    }
    expect(await totalOf(nodes(), 'device_insights_fanout_deliveries_total{outcome="dropped"}')).to.equal(0);
  });

  it('has servers whose health checks succeed while they run, and fail when they do not', async () => {
    const [gateway, node] = [gateways()[0]?.operationsUrl ?? '', nodes()[0]?.operationsUrl ?? ''];
    expect(await Promise.all([healthCheck('gateway-1', gateway), healthCheck('fanout-1', node)])).to.deep.equal([0, 0]);
    expect(await healthCheck('gateway-1', 'http://127.0.0.1:1')).to.equal(1);
  });

  it('passes on close codes', async () => {
    const app = new App([cluster.proxy], `svc_${'z'.repeat(30)}`);
    await eventually('it is refused', () => app.codes.length > 0);
    expect(app.codes).to.deep.equal([4001]);
  });

  it('continues when a gateway and a fan-out node are drained', async () => {
    const [[gateway], [node]] = [cluster.gateways, cluster.nodes];
    const pair = [await follow(), await follow()];
    stream = await Stream.start(cluster.proxy);
    await eventually('insights flow', () => pair.every((app) => app.insights.length >= 5));
    expect(await Promise.all([gateway.end('SIGTERM'), node.end('SIGTERM')])).to.deep.equal([0, 0]);
    const before = pair.map((app) => app.insights.length);
    await eventually('insights flow again', () => pair.every((app, n) => app.insights.length >= (before[n] ?? 0) + 20));
    for (let request = 0; request < 4; request++)
      expect((await fetch(`${cluster.proxy.url}/v1/stream/health`)).status).to.equal(200);
    const stored = await stream.end();
    for (const app of pair) {
      await eventually('the last have come', () => app.current !== null && gapsOf(app.current, stored).length === 0);
      expect(app.codes.filter((code) => code !== 1012)).to.deep.equal([]);
    }
    expect(pair.flatMap((app) => app.codes)).to.deep.equal([1012]);
    expect(cluster.proxy.log).not.to.include(KEY);
  });
});
