import { expect } from 'chai';
import { type Bus, type BusMessage, BusUnavailable } from './bus.js';
import { Inbox } from './inbox.fixture.js';

/** The objects that an implementation provides for the suite. */
interface BusMedium {
  /**
   * A bus, which the suite closes. Buses on the same medium receive each other's messages; in process it is one and the
   * same bus.
   */
  open(): Promise<Bus>;
}

let names = 0;
/** An account that no other test uses. */
const newAccount = () => `account-${++names}`;
const message = (text: string, user: string | null = null): BusMessage => ({ text, user });

/** The contract of `bus.ts`; every implementation runs it, each test on a medium of its own. */
export function busSuite(name: string, medium: () => BusMedium): void {
  describe(`bus: ${name}`, () => {
    let publisher: Bus;
    let node: Bus;

    beforeEach(async () => {
      const { open } = medium();
      publisher = await open();
      node = await open();
    });

    afterEach(async () => {
      await publisher.close();
      await node.close();
    });

    it('carries text and user of a message unchanged', async () => {
      const account = newAccount();
      const inbox = new Inbox();
      await node.subscribe(account, inbox);
      const sent = [
        message('{"unit":"%","note":"ä€𝄞 \\"\\n"}', 'ünser "user"'),
        message('{\n}', null),
        message('0', ''),
      ];
      await publisher.publish(account, sent);
      await inbox.count(3);
      expect(inbox.received).to.deep.equal(sent);
    });

    it('delivers messages that are published right after the subscription was confirmed', async () => {
      for (let round = 0; round < 30; round++) {
        const account = newAccount();
        const inbox = new Inbox();
        const subscription = await node.subscribe(account, inbox);
        await publisher.publish(account, [message(`${round}`)]);
        await inbox.count(1);
        subscription.cancel();
      }
    });

    it('keeps the order of messages of an account, within and across overlapping publishes', async () => {
      const account = newAccount();
      const inbox = new Inbox();
      await node.subscribe(account, inbox);
      const texts = Array.from({ length: 2000 }, (_, n) => `${n}`);
      const publishes = [];
      for (let n = 0; n < texts.length; n += 1 + (n % 3)) {
        publishes.push(
          publisher.publish(
            account,
            texts.slice(n, n + 1 + (n % 3)).map((text) => message(text)),
          ),
        );
      }
      await Promise.all(publishes);
      await inbox.count(texts.length);
      expect(inbox.texts).to.deep.equal(texts);
    });

    it('keeps accounts separate, whatever their names', async () => {
      const accounts = [newAccount(), `${newAccount()}*`, `{${newAccount()}}`, `${newAccount()} ä?[a-z]`];
      const inboxes = accounts.map(() => new Inbox());
      await Promise.all(accounts.map((account, n) => node.subscribe(account, inboxes[n] ?? new Inbox())));
      await Promise.all(accounts.map((account) => publisher.publish(account, [message(account)])));
      await Promise.all(inboxes.map((inbox) => inbox.count(1)));
      expect(inboxes.map((inbox) => inbox.texts)).to.deep.equal(accounts.map((account) => [account]));
    });

    it('gives every listener of an account every message', async () => {
      const account = newAccount();
      const inboxes = [new Inbox(), new Inbox(), new Inbox()];
      await Promise.all(inboxes.map((inbox) => node.subscribe(account, inbox)));
      await publisher.publish(account, [message('a'), message('b')]);
      await Promise.all(inboxes.map((inbox) => inbox.count(2)));
      for (const inbox of inboxes) expect(inbox.texts).to.deep.equal(['a', 'b']);
    });

    it('accepts messages without listeners', async () => {
      await publisher.publish(newAccount(), [message('unheard')]);
    });

    it('delivers nothing to a cancelled listener and everything to the others', async () => {
      const account = newAccount();
      const [gone, stays] = [new Inbox(), new Inbox()];
      const subscription = await node.subscribe(account, gone);
      await node.subscribe(account, stays);
      subscription.cancel();
      subscription.cancel();
      await publisher.publish(account, [message('a')]);
      await stays.count(1);
      expect(gone.texts).to.deep.equal([]);
    });

    it('stops at once for a listener that cancels during a delivery', async () => {
      const account = newAccount();
      const [first, second, witness] = [new Inbox(), new Inbox(), new Inbox()];
      const cancelSecond = () => subscription.cancel();
      await node.subscribe(account, {
        messages: (batch) => {
          cancelSecond();
          first.messages(batch);
        },
        loss: () => first.loss(),
      });
      const subscription = await node.subscribe(account, second);
      await node.subscribe(account, witness);
      await publisher.publish(account, [message('a')]);
      await Promise.all([first.count(1), witness.count(1)]);
      expect(second.texts).to.deep.equal([]);
    });

    it('delivers only new messages to a listener that subscribes again', async () => {
      const account = newAccount();
      const [before, after] = [new Inbox(), new Inbox()];
      const subscription = await node.subscribe(account, before);
      await publisher.publish(account, [message('old')]);
      await before.count(1);
      subscription.cancel();
      await node.subscribe(account, after);
      await publisher.publish(account, [message('new')]);
      await after.count(1);
      expect(after.texts).to.deep.equal(['new']);
      expect(before.texts).to.deep.equal(['old']);
    });

    it('reports no loss without a fault', async () => {
      const account = newAccount();
      const inbox = new Inbox();
      await node.subscribe(account, inbox);
      for (let n = 0; n < 20; n++) await publisher.publish(account, [message(`${n}`)]);
      await inbox.count(20);
      expect(inbox.losses).to.equal(0);
    });

    it('reports a declared loss to listeners before the messages that are published later', async () => {
      const [account, other] = [newAccount(), newAccount()];
      const [follower, late, stranger] = [new Inbox(), new Inbox(), new Inbox()];
      await node.subscribe(account, follower);
      await node.subscribe(other, stranger);
      await publisher.publish(account, [message('before')]);
      await follower.count(1);
      await Promise.all([publisher.declareLoss(account), publisher.publish(account, [message('after')])]);
      await follower.until(() => follower.losses === 1);
      await node.subscribe(account, late);
      await publisher.publish(account, [message('later')]);
      await publisher.publish(other, [message('theirs')]);
      await Promise.all([late.count(1), stranger.count(1)]);
      expect([follower.texts, late.texts, stranger.texts]).to.deep.equal([['before'], ['later'], ['theirs']]);
      expect([follower.losses, late.losses, stranger.losses]).to.deep.equal([1, 0, 0]);
    });

    it('reports a loss that is declared by a process that never published, without a later message', async () => {
      const account = newAccount();
      const [first, second] = [new Inbox(), new Inbox()];
      await node.subscribe(account, first);
      await publisher.declareLoss(account);
      await first.until(() => first.losses === 1);
      await node.subscribe(account, second);
      await publisher.declareLoss(account);
      await second.until(() => second.losses === 1);
      expect(first.losses).to.equal(1);
    });

    it('returns a canary message', async () => {
      await node.probe(2000);
      await publisher.probe(2000);
    });

    it('refuses everything with BusUnavailable once it is closed', async () => {
      await node.close();
      for (const attempt of [
        () => node.publish('a', [message('x')]),
        () => node.declareLoss('a'),
        () => node.subscribe('a', new Inbox()),
        () => node.probe(100),
      ]) {
        const error = await attempt().then(
          () => undefined,
          (reason: unknown) => reason,
        );
        expect(error).to.be.instanceOf(BusUnavailable);
      }
    });
  });
}
