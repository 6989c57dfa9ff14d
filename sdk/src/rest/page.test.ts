import { expect } from 'chai';
import { Listing, linkedCursor } from './page.js';

const linking = (link: string | null) => new Headers(link === null ? {} : { link });

/** Pages of numbers, linked by `rel`. */
function listing(pages: readonly number[][], rel: 'next' | 'prev' = 'next') {
  const asked: (string | undefined)[] = [];
  const list = new Listing(async ({ cursor }) => {
    asked.push(cursor);
    const at = Number(cursor ?? 0);
    return {
      data: [...(pages[at] ?? [])],
      headers: linking(at + 1 < pages.length ? `</v1/x?limit=2&cursor=${at + 1}>; rel="${rel}"` : null),
    };
  }, rel === 'prev');
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
    expect(await all(listing([[5, 6], [3, 4], [1]], 'prev').list)).to.deep.equal([6, 5, 4, 3, 1]);
    expect(await all(listing([[5, 6]], 'prev').list)).to.deep.equal([6, 5]);
  });

  it('rejects as its reading does', async () => {
    const broken = new Listing(() => Promise.reject(new Error('gone')), false);
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
    const broken = new Listing(() => Promise.reject(new Error('gone')), false);
    expect(String(await broken.finally(() => settled++).catch((error: unknown) => error))).to.equal('Error: gone');
    expect(settled).to.equal(2);
  });

  it('finds the cursor in a Link header among others', () => {
    expect(linkedCursor(linking('</a>; rel="help", </v1/x?cursor=a%3Db&limit=1>; rel="next"'))).to.equal('a=b');
    expect(linkedCursor(linking('</v1/x?limit=1>; rel="next"'))).to.equal(null);
    expect(linkedCursor(linking(null))).to.equal(null);
  });
});
