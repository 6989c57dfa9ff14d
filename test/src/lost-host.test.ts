import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { findRedisServer } from '@device-insights/fanout/test-redis';
import { secantusProgram } from '@device-insights/gateway/test-mongo';
import { DeviceInsights, type LiveSubscription } from '@device-insights/sdk';
import { expect } from 'chai';
import { identity } from './app.js';
import { environmentOf } from './compose.js';
import { eventually } from './eventually.js';
import { startFanoutNode } from './fanout-node.js';
import { Network, NoNetwork } from './network.js';
import { startNginx, type TestNginx } from './nginx.js';
import { KEY, Running, temporaryFolder } from './running.js';
import type { ServerProcess } from './server-process.js';
import { missingOf, Stream } from './stream.js';

const DEVICES = 2;
const SUBSCRIBERS = 2;
/** In real time: what a lost gateway had not stored yet is then little data time, as in real use. */
const SPEED = 1;
const START_MS = 60_000;
/** A subscriber pings every 30 s, and misses the answer at the next ping; a device every 15 s. */
const RECOVERY_MS = 120_000;

/** An app that follows its account with the SDK. */
class Follower {
  readonly insights: { session_id: string; type: string; ts: number; at: number }[] = [];
  readonly #live: LiveSubscription;

  constructor(url: string) {
    const client = new DeviceInsights({ baseUrl: url, apiKey: KEY, backoff: { baseMs: 50, maxMs: 200 } });
    this.#live = client.live.subscribe();
    void this.#read();
  }

  close(): void {
    this.#live.close();
  }

  async #read(): Promise<void> {
    for await (const { session_id, type, ts } of this.#live)
      this.insights.push({ session_id, type, ts, at: Date.now() });
  }
}

describe('two hosts behind the proxy, and a third for the data', function () {
  this.timeout(400_000);
  let folder: ReturnType<typeof temporaryFolder>;
  let data: ChildProcess[] = [];
  let gateways: Running[] = [];
  let nodes: ServerProcess[] = [];
  let followers: Follower[] = [];
  let streams: Stream[] = [];
  let network: Network | undefined;
  let proxy: TestNginx | undefined;

  /** Starts a server of the data host; resolves when it can be connected to. */
  const serve = async (program: string, words: readonly string[], port: number) => {
    const [ip = '', ...inside] = network?.on('data') ?? [];
    const child = spawn(ip, [...inside, program, ...words], { stdio: 'ignore' });
    const killWithUs = () => child.kill('SIGKILL');
    process.once('exit', killWithUs);
    data.push(child);
    const isThere = async () => {
      const socket = connect(port, network?.address('data'));
      await once(socket, 'connect');
      socket.destroy();
      return true;
    };
    await eventually(`${program} is there`, isThere, START_MS);
  };

  beforeEach(async function () {
    this.timeout(600_000); // The first run may have to install the servers.
    folder = temporaryFolder();
    try {
      network = Network.open(['data', 'one', 'two']);
    } catch (error) {
      if (!(error instanceof NoNetwork)) throw error;
      console.log(`      skipped: ${error.message}`);
      this.skip();
    }
    const net = network;
    const address = net.address('data');
    await serve(findRedisServer(), ['--bind', address, '--port', '6379', '--protected-mode', 'no', '--save', ''], 6379);
    const storage = ['--storage-path', `${folder.path}/data`, '--sync-on-commit', '--log-level', 'ERROR'];
    await serve(await secantusProgram(), ['--host', address, '--port', '27017', ...storage], 27017);
    for (const [host, n] of [
      ['one', 1],
      ['two', 2],
    ] as const) {
      const bus = { HOST: net.address(host), METRICS_PORT: '0', REDIS_URL: `redis://${address}:6379` };
      const store = { MONGODB_URI: `mongodb://${address}:27017/hosts`, BOOTSTRAP_API_KEY: KEY, LOG_LEVEL: 'warn' };
      const gateway = { ...environmentOf(`gateway-${n}`), ...bus, ...store };
      gateways.push(await Running.start(gateway, undefined, net.on(host)));
      nodes.push(await startFanoutNode({ ...environmentOf(`fanout-${n}`), ...bus }, undefined, net.on(host)));
    }
    proxy = await startNginx({
      'gateway-1:8080': `${net.address('one')}:8080`,
      'gateway-2:8080': `${net.address('two')}:8080`,
      'fanout-1:8090': `${net.address('one')}:8090`,
      'fanout-2:8090': `${net.address('two')}:8090`,
    });
    const well = async () =>
      (await Promise.all([...gateways, ...nodes].map((it) => it.healthz()))).every((it) => it === 200);
    await eventually('all are healthy', well, START_MS);
  });
  afterEach(async () => {
    for (const stream of streams) stream.abandon();
    for (const follower of followers) follower.close();
    await proxy?.stop();
    for (const server of [...gateways, ...nodes]) await server.end('SIGKILL');
    for (const child of data) child.kill('SIGKILL');
    network?.close();
    folder.remove();
    [data, gateways, nodes, followers, streams] = [[], [], [], [], []];
  });

  it('go on when one is lost without a word: no reading is lost, and devices and subscribers come to the other', async () => {
    const nginx = proxy as TestNginx;
    followers = Array.from({ length: SUBSCRIBERS }, () => new Follower(nginx.url));
    for (let n = 0; n < DEVICES; n++) streams.push(await Stream.start(nginx, { speed: SPEED }));
    const flows = (since: number) =>
      followers.every(({ insights }) =>
        streams.every(({ sessionId }) => insights.some((it) => it.session_id === sessionId && it.at > since)),
      );
    await eventually('insights flow', () => flows(0), START_MS);
    expect(await gateways[0]?.metric('device_insights_ingest_connections')).to.be.greaterThan(0);
    expect(await nodes[0]?.metric('device_insights_fanout_connections')).to.be.greaterThan(0);

    network?.cut('one');
    const cut = Date.now();
    const request = () => fetch(`${nginx.url}/v1/sessions`, { headers: { authorization: `Bearer ${KEY}` } });
    const statuses = [];
    for (let n = 0; n < 10; n++) statuses.push((await request()).status);
    const requests = Date.now() - cut;
    expect(statuses).to.deep.equal(statuses.map(() => 200));
    const moved = async () =>
      (await gateways[1]?.metric('device_insights_ingest_connections')) === DEVICES &&
      (await nodes[1]?.metric('device_insights_fanout_connections')) === SUBSCRIBERS;
    const back = await eventually('all have come to the other host', moved, RECOVERY_MS);
    const since = Date.now();
    await eventually('insights of every device flow to every subscriber', () => flows(since), RECOVERY_MS);
    console.log(
      `      ten requests took ${requests} ms; all clients were at the other host after ${back + requests} ms, all readings live after ${Date.now() - cut} ms`,
    );

    for (const stream of streams) {
      const stored = await stream.end();
      expect(missingOf(stored)).to.deep.equal([]);
      const ids = stored.map(identity);
      for (const { insights } of followers) {
        const own = () => insights.filter((it) => it.session_id === stream.sessionId).map(identity);
        await eventually('the subscriber has all', () => own().length >= ids.length, START_MS);
        expect(own()).to.have.members(ids);
      }
    }
  });
});
