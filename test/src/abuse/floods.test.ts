import { frameOf, PING, Raw, upgradeOf } from '@device-insights/fanout/platform/raw.fixture';
import { expect } from 'chai';
import { KEY } from '../running.js';
import type { ServerProcess } from '../server-process.js';
import { subscribe } from '../wearable.js';
import { GatewayAndNode } from './gateway-and-node.js';

const PINGS = Buffer.alloc(6 * 1024 * 1024, PING);
const FRAGMENTS = Buffer.concat([
  frameOf(0x1, Buffer.from('x'), false),
  ...Array(2000).fill(frameOf(0, Buffer.from('x'), false)),
]);

describe('a flood', () => {
  const servers = new GatewayAndNode();

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
    it(`of ${what} is cut off, and others are served meanwhile`, async () => {
      const { gateway, node } = servers;
      for (const place of target.includes('ingest') ? [gateway] : [gateway, node]) {
        const app = await subscribe(place);
        await Promise.all(Array.from({ length: 8 }, () => floodUntilCut(place, target, flood)));
        expect(await place.fault()).to.equal('');
        app.close();
        expect(await app.closed()).to.include({ code: 1000 });
      }
    });
  }
});
