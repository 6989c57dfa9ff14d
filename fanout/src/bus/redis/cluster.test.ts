import { expect } from 'chai';
import { CopiedKeys } from '../../keys/copied-keys.js';
import { holderWith } from '../../keys/holder.fixture.js';
import { KeyCopier } from '../../keys/key-copier.js';
import { busyLimit } from '../../platform/busy.fixture.js';
import { silentLog } from '../../platform/log.fixture.js';
import { until } from '../../platform/until.fixture.js';
import type { Bus, BusMessage } from '../bus.js';
import { Inbox } from '../inbox.fixture.js';
import { busSuite } from '../suite.js';
import { createRedisBus } from './redis.js';
import { type ClusterServer, masterOf, startCluster, type TestCluster } from './redis-cluster.fixture.js';
import { slotOf } from './slot.js';
import { channelOf } from './upstream.js';

const HASH = 'a'.repeat(64);
const OLD = 'b'.repeat(64);
const message = (text: string): BusMessage => ({ text, user: null });
let names = 0;

describe('Redis bus on a cluster', function () {
  this.timeout(120_000); // The first run may have to install the server.
  let cluster: TestCluster;

  before(async () => {
    cluster = await startCluster();
  });

  after(async () => {
    await cluster?.stop();
  });

  busSuite('Redis Cluster', () => ({ open: () => createRedisBus({ url: cluster.url, log: silentLog }) }));

  it('agrees with the servers on the slot of every name', async () => {
    const [server] = cluster.servers;
    for (const name of ['', 'a', '{}', '{a}b', 'x{y}{z}', '}{', '{{a}}', 'ä€𝄞', channelOf('default')]) {
      expect(await server?.admin.call('CLUSTER', 'KEYSLOT', name), name).to.equal(slotOf(name));
    }
  });

  it('carries the keys, and their revocations', async () => {
    const good = new Map([[HASH, holderWith('one', { user: 'anna' })]]);
    const source = { all: async () => new Map([...good, [OLD, null]]), holder: async () => null };
    const copier = new KeyCopier({ url: cluster.url, log: silentLog, source });
    const keys = new CopiedKeys({ url: cluster.url, log: silentLog });
    try {
      await copier.start();
      await keys.start();
      const heard = new Promise<string>((resolve) => keys.onRevoked(resolve, () => []));
      expect(await keys.holder(HASH)).to.deep.equal(holderWith('one', { user: 'anna' }));
      expect(await keys.holder(OLD)).to.equal(null);
      expect(await keys.holder('c'.repeat(64))).to.equal(null);
      await copier.revoke(HASH);
      expect(await heard).to.equal(HASH);
      expect(await keys.holder(HASH)).to.equal(null);
    } finally {
      copier.close();
      keys.close();
    }
  });

  describe('that changes', () => {
    let node: Bus;
    let publisher: Bus;

    beforeEach(async () => {
      node = await createRedisBus({ url: cluster.url, log: silentLog });
      publisher = await createRedisBus({ url: cluster.url, log: silentLog });
    });

    afterEach(async () => {
      await publisher.close();
      await node.close();
    });

    /** A server that lives, other than the given one. */
    function otherThan(server: ClusterServer): ClusterServer {
      const other = cluster.servers.find((it) => it !== server && it.admin.status === 'ready');
      if (!other) throw new Error('no server left');
      return other;
    }

    async function ownerOf(account: string, asked = cluster.servers[0]): Promise<ClusterServer> {
      const owner = asked && (await masterOf(slotOf(channelOf(account)), asked, cluster.servers));
      if (!owner) throw new Error('nobody holds the slot');
      return owner;
    }

    /** An account that lives on the given server, or anywhere else. */
    async function accountOn(server: ClusterServer, there: boolean): Promise<string> {
      for (;;) {
        const account = `account-${++names}`;
        if (((await ownerOf(account)) === server) === there) return account;
      }
    }

    /** Subscribes and publishes until a message comes through. */
    async function throughAgain(account: string): Promise<void> {
      const inbox = new Inbox();
      await until(async () => {
        try {
          if (inbox.received.length === 0) await node.subscribe(account, inbox);
          await publisher.publish(account, [message('again')]);
          return true;
        } catch {
          return false;
        }
      });
      await inbox.until(() => inbox.received.length > 0 || inbox.losses > 0);
      if (inbox.losses > 0) await throughAgain(account);
    }

    it('delivers every message or reports a loss while a slot moves, and follows it', async () => {
      const [first] = cluster.servers;
      if (!first) throw new Error('no server');
      const account = await accountOn(first, true);
      const target = await ownerOf(await accountOn(first, false));
      const inbox = new Inbox();
      await node.subscribe(account, inbox);
      let sent = 0;
      let moving = true;
      const stream = (async () => {
        while (moving) await publisher.publish(account, [message(`${sent++}`)]).catch(() => undefined);
      })();
      await inbox.count(100);
      await move(slotOf(channelOf(account)), first, target, cluster.servers);
      await until(async () => inbox.losses === 1);
      moving = false;
      await stream;
      expect(inbox.texts).to.deep.equal(inbox.texts.map((_, index) => `${index}`));
      expect(inbox.received.length).to.be.at.most(sent);
      await throughAgain(account);
      await move(slotOf(channelOf(account)), target, first, cluster.servers);
    });

    it('loses a master: only its accounts report a loss, and they are served again soon after the election', async () => {
      const [first] = cluster.servers;
      if (!first) throw new Error('no server');
      const [hit, spared] = [await accountOn(first, true), await accountOn(first, false)];
      const [hitInbox, sparedInbox] = [new Inbox(), new Inbox()];
      await node.subscribe(hit, hitInbox);
      await node.subscribe(spared, sparedInbox);
      await publisher.publish(hit, [message('before')]);
      await hitInbox.count(1);
      await first.redis.kill();
      await hitInbox.until(() => hitInbox.losses === 1);
      let elected = 0;
      let sent = 0;
      await until(async () => {
        await publisher.publish(spared, [message(`${sent++}`)]);
        const now = await masterOf(slotOf(channelOf(hit)), otherThan(first), cluster.servers);
        if (now !== first && now !== undefined) elected = Date.now();
        return elected > 0;
      });
      await throughAgain(hit);
      expect(Date.now() - elected).to.be.below(busyLimit(5000));
      await sparedInbox.count(sent);
      expect(sparedInbox.losses).to.equal(0);
      await node.probe(5000);
    });
  });
});

/** Moves a slot, as `redis-cli --cluster reshard` does; the slot holds no keys. */
async function move(
  slot: number,
  from: ClusterServer,
  to: ClusterServer,
  all: readonly ClusterServer[],
): Promise<void> {
  await to.admin.call('CLUSTER', 'SETSLOT', `${slot}`, 'IMPORTING', from.id);
  await from.admin.call('CLUSTER', 'SETSLOT', `${slot}`, 'MIGRATING', to.id);
  await to.admin.call('CLUSTER', 'SETSLOT', `${slot}`, 'NODE', to.id);
  await from.admin.call('CLUSTER', 'SETSLOT', `${slot}`, 'NODE', to.id);
  for (const asked of all) await until(async () => (await masterOf(slot, asked, all)) === to);
}
