import type { ChildProcess } from 'node:child_process';
import { expect } from 'chai';
import { eventually } from './eventually.js';
import { Network, NoNetwork } from './network.js';
import { Operator } from './operator.js';
import { KEY, Running, temporaryFolder } from './running.js';
import { launch } from './server-process.js';

const START_MS = 60_000;
/** The service pings a device after a silence of 25 s, TCP asks an app after 60 s, and both wait for 30 s at most. */
const FREED_MS = 110_000;
const GRACE_MS = 1000;

describe('a host with a device and an app whose cable is pulled out', function () {
  this.timeout(FREED_MS + 3 * START_MS);
  let folder: ReturnType<typeof temporaryFolder>;
  let env: Record<string, string>;
  let clients: ChildProcess[] = [];
  let network: Network | undefined;
  let gateway: Running | undefined;

  beforeEach(async function () {
    folder = temporaryFolder();
    env = { DATA_DIR: folder.path };
    try {
      network = Network.open(['service', 'clients']);
    } catch (error) {
      if (!(error instanceof NoNetwork)) throw error;
      console.log(`      skipped: ${error.message}`);
      this.skip();
    }
    const more = { HOST: network.address('service'), METRICS_PORT: '0', SESSION_GRACE_MS: `${GRACE_MS}` };
    gateway = await Running.start({ ...env, ...more }, undefined, network.on('service'));
  });
  afterEach(async () => {
    for (const client of clients) client.kill('SIGKILL');
    clients = [];
    await gateway?.end('SIGKILL');
    network?.close();
    folder.remove();
  });

  it('is forgotten in two minutes: its sockets are freed and its session ends, although nothing closed them', async () => {
    const service = gateway as Running;
    const net = network as Network;
    const command = (key: string, ...words: string[]) => {
      const address = { DEVICE_INSIGHTS_URL: service.url, DEVICE_INSIGHTS_API_KEY: key };
      clients.push(launch('sdk/dist/cli/main.js', words, address, undefined, net.on('clients')));
    };
    const idle = await new Operator(env).issue('idle'); // Nothing is on its way to the app when the cable is pulled out.
    command(idle.key, 'tail');
    command(KEY, 'simulate', '--device', 'far');
    const connections = async () => [
      await service.metric('device_insights_ingest_connections'),
      await service.metric('device_insights_fanout_connections'),
    ];
    await eventually('both are connected', async () => `${await connections()}` === '1,1', START_MS);
    const flows = async () => (await service.call<object[]>('GET', '/v1/insights')).body.length > 0;
    await eventually('insights are stored', flows, START_MS);

    net.cut('clients');
    const took = await eventually('both sockets are freed', async () => `${await connections()}` === '0,0', FREED_MS);
    console.log(`      both sockets were freed after ${(took / 1000).toFixed(0)} s`);
    const ended = async () => {
      const { body } = await service.call<{ status: string }[]>('GET', '/v1/sessions');
      return body.length === 1 && body[0]?.status === 'closed';
    };
    await eventually('its session has ended', ended, GRACE_MS + START_MS);
    expect(await service.health()).to.include({ ok: true });
  });
});
