import { frameOf, PING, Raw, upgradeOf } from '@device-insights/fanout/platform/raw.fixture';
import { startRedis, type TestRedis } from '@device-insights/fanout/test-redis';
import { expect } from 'chai';
import { startFanoutNode } from '../fanout-node.js';
import { KEY, Running, temporaryFolder } from '../running.js';
import type { ServerProcess } from '../server-process.js';
import { subscribe } from '../wearable.js';

const PINGS = Buffer.alloc(6 * 1024 * 1024, PING);
const FRAGMENTS = Buffer.concat([
  frameOf(0x1, Buffer.from('x'), false),
  ...Array(2000).fill(frameOf(0, Buffer.from('x'), false)),
]);

/** The data that a stranger sends before the connection is reset. */
const SENT: Readonly<Record<string, string>> = {
  nothing: '',
  'half a header': 'GET /v1/algos HTTP/1.1\r\nHost: x\r\nX-Slow: ',
  'no HTTP': '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n',
  'a long header': `GET / HTTP/1.1\r\nHost: x\r\nX-Long: ${'x'.repeat(20_000)}\r\n\r\n`,
  'a long query': `GET /v1/algos?${'q'.repeat(15_000)} HTTP/1.1\r\nHost: x\r\n\r\n`,
  'a request without a key': 'GET /v1/algos HTTP/1.1\r\nHost: x\r\n\r\n',
  'a body that does not end': 'POST /v1/device-models HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n{',
  'an expectation': 'POST /v1/device-models HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\nExpect: 100-continue\r\n\r\n',
  'a strange expectation': 'GET / HTTP/1.1\r\nHost: x\r\nExpect: tea\r\n\r\n',
  'many requests at once': 'GET /v1/stream/health HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(200),
  'requests and then no HTTP': `${'GET /v1/stream/health HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(3)}\r\n?\r\n`,
  'HTTP/1.0': 'GET /v1/stream/health HTTP/1.0\r\n\r\n',
  'an absolute target': 'GET http://x/v1/algos HTTP/1.1\r\nHost: x\r\n\r\n',
  'an absolute target that is none': 'GET http://[::1 HTTP/1.1\r\nHost: x\r\n\r\n',
  'OPTIONS *': 'OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n',
  CONNECT: 'CONNECT x:443 HTTP/1.1\r\nHost: x\r\n\r\n',
  'an upgrade of no socket': upgradeOf('/x'),
  'an upgrade to another protocol': 'GET /x HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n',
  'an upgrade with a body': `${upgradeOf('/x', 'Content-Length: 100000\r\n')}${'x'.repeat(50_000)}`,
  'an upgrade that is not valid': upgradeOf('/stream/subscribe').replace('dGhl', '=='),
  'an upgrade by POST': upgradeOf('/stream/subscribe').replace('GET', 'POST'),
  'an upgrade without a key': upgradeOf('/stream/subscribe'),
  'an upgrade of a device without a key': upgradeOf('/stream/ingest'),
  'an upgrade with a key': upgradeOf(`/stream/subscribe?api_key=${KEY}`),
  'an upgrade with bytes behind it': `${upgradeOf('/stream/subscribe')}${'\xff'.repeat(10_000)}`,
};

describe('at a gateway and a fan-out node', () => {
  const folder = temporaryFolder();
  let redis: TestRedis;
  let gateway: Running;
  let node: ServerProcess;

  before(async function () {
    this.timeout(600_000); // The first run may have to install the server.
    redis = await startRedis();
    gateway = await Running.start({ DATA_DIR: folder.path, REDIS_URL: redis.url, METRICS_PORT: '0' });
    node = await startFanoutNode({ REDIS_URL: redis.url });
  });
  after(async () => {
    await Promise.all([gateway?.end('SIGKILL'), node?.end('SIGKILL')]);
    await redis?.stop();
    folder.remove();
  });

  /** Floods until the server ends the connection. */
  async function floodUntilCut(place: ServerProcess, target: string, flood: Uint8Array): Promise<void> {
    const raw = await Raw.at(place.url, upgradeOf(target));
    await raw.first();
    raw.socket.write(flood);
    await raw.ended;
    raw.socket.destroy();
  }

  for (const [what, target, flood] of [
    ['pings of a device without a key', '/stream/ingest', PINGS],
    ['pings of a subscriber without a key', '/stream/subscribe', PINGS],
    ['pings of a subscriber', `/stream/subscribe?api_key=${KEY}`, PINGS],
    ['one-byte fragments of a subscriber', `/stream/subscribe?api_key=${KEY}`, FRAGMENTS],
  ] as const) {
    it(`a flood of ${what} is cut off, and others are served meanwhile`, async () => {
      for (const place of target.includes('ingest') ? [gateway] : [gateway, node]) {
        const app = await subscribe(place);
        await Promise.all(Array.from({ length: 8 }, () => floodUntilCut(place, target, flood)));
        expect(await place.fault()).to.equal('');
        app.close();
        expect(await app.closed()).to.include({ code: 1000 });
      }
    });
  }

  for (const [what, sent] of Object.entries(SENT)) {
    it(`connections that are reset after ${what} do not affect other connections`, async () => {
      for (const place of [gateway, node]) {
        const app = await subscribe(place);
        const resets = Array.from({ length: 20 }, async (_, n) => {
          const raw = await Raw.at(place.url, sent);
          if (n % 2 === 0) await new Promise((resolve) => raw.socket.write('\r\n\r\n', resolve));
          if (n % 4 === 0) await place.healthz(); // By now the server has read the data.
          raw.reset();
        });
        await Promise.all(resets);
        expect(await place.fault()).to.equal('');
        app.close();
        expect(await app.closed()).to.include({ code: 1000 });
        expect(place.log).not.to.include('unhandled error');
      }
    });
  }
});
