import { expect } from 'chai';
import { ConnectionError } from './api-error.js';
import { linkedCursor, paged } from './page.js';

const linking = (link: string | null) => new Headers(link === null ? {} : { link });

/** Pages of numbers. */
function listing(pages: readonly number[][], back = false) {
  const asked: (string | undefined)[] = [];
  const list = paged(async (cursor) => {
    asked.push(cursor);
    const at = Number(cursor ?? 0);
    return { data: [...(pages[at] ?? [])], next: at + 1 < pages.length ? `${at + 1}` : null };
  }, back);
  return { list, asked };
}

async function all<T>(rows: AsyncIterable<T>): Promise<T[]> {
  const collected: T[] = [];
  for await (const row of rows) collected.push(row);
  return collected;
}

describe('a listing', () => {
  it('is one page and the address of the next one when awaited', async () => {
    const { list, asked } = listing([[1, 2], [3]]);
    expect(await list).to.deep.equal({ data: [1, 2], next: '1' });
    expect(asked).to.deep.equal([undefined]);
    expect((await listing([[1]]).list).next).to.equal(null);
  });

  it('iterated is all rows, a page at a time', async () => {
    const { list, asked } = listing([[1, 2], [3, 4], [5]]);
    expect(await all(list)).to.deep.equal([1, 2, 3, 4, 5]);
    expect(asked).to.deep.equal([undefined, '1', '2']);
  });

  it('that goes back comes newest first', async () => {
    expect(await all(listing([[5, 6], [3, 4], [1]], true).list)).to.deep.equal([6, 5, 4, 3, 1]);
    expect(await all(listing([[5, 6]], true).list)).to.deep.equal([6, 5]);
  });

  it('ends with an error if a page leads to itself or back to an earlier one, and loops nowhere', async () => {
    for (const circle of [{ a: 'a' }, { a: 'b', b: 'c', c: 'a' }] as Record<string, string>[]) {
      const rows: string[] = [];
      const list = paged(async (cursor = 'a') => ({ data: [cursor], next: circle[cursor] ?? null }), false);
      const error = await (async () => {
        for await (const row of list) rows.push(row);
      })().catch((caught: unknown) => caught);
      expect(error).to.be.instanceOf(ConnectionError).and.property('message').contains('the pages of the list repeat');
      expect(rows.length).to.be.at.most(4);
    }
  });

  it('rejects as its reading does', async () => {
    const broken = paged(() => Promise.reject(new Error('gone')), false);
    expect(
      await broken.then(
        () => null,
        (error) => String(error),
      ),
    ).to.equal('Error: gone');
    expect(await broken.catch((error: unknown) => String(error))).to.equal('Error: gone');
    expect(await all(broken).catch((error: unknown) => String(error))).to.equal('Error: gone');
  });

  it('has catch and finally, as a promise', async () => {
    const { list } = listing([[1, 2], [3]]);
    let settled = 0;
    expect(await list.finally(() => settled++)).to.deep.equal({ data: [1, 2], next: '1' });
    expect(await list.catch(() => null)).to.deep.equal({ data: [1, 2], next: '1' });
    const broken = paged(() => Promise.reject(new Error('gone')), false);
    expect(String(await broken.finally(() => settled++).catch((error: unknown) => error))).to.equal('Error: gone');
    expect(settled).to.equal(2);
  });

  it('finds the cursor in a Link header among others', () => {
    expect(linkedCursor(linking('</a>; rel="help", </v1/x?cursor=a%3Db&limit=1>; rel="next"'))).to.equal('a=b');
    expect(linkedCursor(linking('</v1/x?limit=1>; rel="next"'))).to.equal(null);
    expect(linkedCursor(linking(null))).to.equal(null);
  });
});
