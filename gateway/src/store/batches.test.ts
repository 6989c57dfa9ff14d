import { setImmediate } from 'node:timers/promises';
import { expect } from 'chai';
import { batches } from './batches.js';

describe('batches', () => {
  it('are read one in a turn of the event loop, however many readers there are', async () => {
    let pages = 0;
    const page = async (after: number | null) => {
      pages += 1;
      return after === 3 ? [] : [(after ?? 0) + 1];
    };
    const readers = Array.from({ length: 50 }, async () => {
      const rows: number[] = [];
      for await (const batch of batches('account', 1, page)) rows.push(...batch);
      return rows;
    });
    let most = 0;
    let before = 0;
    let isDone = false;
    const all = Promise.all(readers).finally(() => {
      isDone = true;
    });
    while (!isDone) {
      await setImmediate();
      most = Math.max(most, pages - before);
      before = pages;
    }
    for (const rows of await all) expect(rows).to.deep.equal([1, 2, 3]);
    expect(most).to.equal(1);
  });

  it('are read by accounts in turn, however many readers one of them has', async () => {
    const pages: string[] = [];
    const read = async (account: string, count: number) => {
      const page = async (after: number | null) => {
        pages.push(account);
        return after === count ? [] : [(after ?? 0) + 1];
      };
      for await (const _ of batches(account, 1, page));
    };
    const busy = Array.from({ length: 50 }, () => read('busy', 3));
    await read('quiet', 5);
    expect(pages.filter((account) => account === 'busy').length).to.be.lessThan(20);
    await Promise.all(busy);
  });
});
