import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { text } from 'node:stream/consumers';
import { simulate } from '@device-insights/sdk/simulator';
import { expect } from 'chai';
import { eventually } from './eventually.js';
import { KEY, Running, temporaryFolder } from './running.js';
import { RawSocket } from './socket.js';
import { startTlsProxy, TLS_PROXIES, type TlsProxy } from './tls-proxies.js';
import { makeModel, sendFrames } from './wearable.js';

const PASSWORD = 'correct horse battery';
/** The client's address behind the proxy. */
const CLIENT = '127.0.0.9';
/** The certificates of the tests are their own. */
const INSECURE = { rejectUnauthorized: false };

describe('a proxy with TLS in front of a service, with the configuration of the handbook', () => {
  const folder = temporaryFolder();
  let gateway: Running;
  let model: string;

  before(async function () {
    this.timeout(600_000); // The first run may have to install the proxies.
    const env = { DATA_DIR: `${folder.path}/data`, DASHBOARD: 'on', DASHBOARD_PASSWORD: PASSWORD, LOG_LEVEL: 'info' };
    gateway = await Running.start(env);
    model = await makeModel(gateway, simulate());
  });
  after(async () => {
    await gateway?.end('SIGKILL');
    folder.remove();
  });

  const call = async ({ host }: TlsProxy, path: string, body?: object) => {
    const headers = { origin: `https://${host}`, 'x-dashboard': '1', 'content-type': 'application/json' };
    const options = { ...INSECURE, headers, localAddress: CLIENT, family: 4, method: body ? 'POST' : 'GET' };
    const sent = request(`https://${host}${path}`, options).end(body && JSON.stringify(body));
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    return { status: answer.statusCode, headers: answer.headers, body: await text(answer) };
  };

  for (const name of Object.keys(TLS_PROXIES))
    it(`${name} carries devices, subscribers and the dashboard, and logs no key`, async function () {
      this.timeout(600_000);
      const proxy = await startTlsProxy(name, folder.path, new URL(gateway.url).host);
      const open = (path: string, fields: Record<string, string> = {}) =>
        new RawSocket(`wss://${proxy.host}${path}?${new URLSearchParams({ ...fields, api_key: KEY })}`, INSECURE);
      await eventually('it answers', async () => (await call(proxy, '/v1/stream/health')).status === 200);

      const app = open('/stream/subscribe');
      expect(await app.next()).to.include({ status: 'subscribed' });
      const device = open('/stream/ingest', { device_id: name, device_model_id: model });
      expect(await device.next()).to.include({ type: 'ready' });
      await sendFrames(device, simulate({ seconds: 10 }), Date.now() - 60_000, 0, 10);
      expect(await app.next()).to.include({ device_id: name });
      device.send({ type: 'end' });
      await device.until(({ type }) => type === 'ended');

      const signedIn = await call(proxy, '/dashboard/api/sign-in', { name: 'admin', password: PASSWORD });
      expect([signedIn.status, signedIn.body]).to.have.property('0', 200);
      expect(String(signedIn.headers['set-cookie'])).to.match(/; Secure$/);
      expect(gateway.log).to.include(`"address":"${CLIENT}"`);
      expect((await call(proxy, '/stream/ingest')).body).to.include('headers Upgrade and Connection');

      app.close();
      await app.closed();
      await eventually('the sockets are in its log', () => /stream\/ingest.*stream\/subscribe/s.test(proxy.log()));
      await proxy.stop();
      expect(proxy.log()).not.to.include(KEY.slice(0, 20));
    });

  it('logs no key of a socket that a proxy cannot pass on', async () => {
    for (const name of Object.keys(TLS_PROXIES)) {
      const proxy = await startTlsProxy(name, `${folder.path}/data`, '127.0.0.1:1');
      await eventually('it answers', async () => (await call(proxy, '/v1/stream/health')).status !== undefined);
      expect((await call(proxy, `/stream/ingest?api_key=${KEY}`)).status).to.be.oneOf([502, 503]);
      await eventually('it is in its log', () => proxy.log().includes('/stream/ingest'));
      await proxy.stop();
      expect(proxy.log()).not.to.include(KEY.slice(0, 20));
    }
  });
});
