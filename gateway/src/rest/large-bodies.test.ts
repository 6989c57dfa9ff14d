import { expect } from 'chai';
import type { Queue } from '../queue.js';
import { largeBodies } from './body.js';

describe('the large bodies of accounts', () => {
  let bodies: Queue;
  /** What ends the bodies that are being read, by account. */
  let reading: Map<string, (() => void)[]>;

  beforeEach(() => {
    bodies = largeBodies();
    reading = new Map();
  });

  function send(account: string, count: number): Promise<unknown> {
    const read = () =>
      new Promise<void>((end) => {
        reading.set(account, [...(reading.get(account) ?? []), end]);
      });
    return Promise.all(Array.from({ length: count }, () => bodies.run(account, read)));
  }

  const turn = () => new Promise(setImmediate);
  const counts = () => [...reading.values()].map((ends) => ends.length);
  const total = () => counts().reduce((sum, count) => sum + count, 0);

  it('take at most 128 places and one for each account, and no account waits for another with its first', async () => {
    for (let account = 0; account < 300; account++) {
      void send(`${account}`, 10);
      await turn();
      expect(reading.get(`${account}`)?.length).to.be.within(1, 8);
      expect(total()).to.be.at.most(128 + account + 1);
    }
    expect(counts().slice(0, 9)).to.deep.equal(Array(9).fill(8));
  });

  it('are read one after the other by an account that has only one place', async () => {
    for (let account = 0; account < 40; account++) void send(`${account}`, 8);
    await turn();
    const all = send('late', 3);
    for (let n = 0; n < 3; n++) {
      await turn();
      expect(reading.get('late')).to.have.length(1);
      for (const end of reading.get('late')?.splice(0) ?? []) end();
    }
    await all;
  });
});
