import { expect } from 'chai';
import { type RowFigures, runRow } from './matrix.js';
import { ROWS } from './rows.js';

/**
 * Few enough devices for every row to take seconds; `npm run reliability` runs the same rows with 100. A stop lasts
 * longer than two health answers may take, so that a request during the stop must fail.
 */
const SCALE = { devices: 6, subscribers: 3, stopMs: 4000 };
/** Number of concurrent rows: a row consists mostly of waiting. */
const LANES = 2;

describe('the fault matrix, shortened', function () {
  this.timeout(300_000);
  const results = new Map<string, Promise<RowFigures>>();

  before(() => {
    const lanes: Promise<unknown>[] = new Array(LANES).fill(Promise.resolve());
    for (const [n, row] of ROWS.entries()) {
      const result = (lanes[n % LANES] as Promise<unknown>).then(() => runRow(row, SCALE));
      results.set(row.id, result);
      lanes[n % LANES] = result.catch(() => {}); // Reported by its test.
    }
  });

  for (const row of ROWS)
    it(`${row.fault} (${row.setup})`, async function () {
      const figures = await results.get(row.id);
      if (!figures) throw new Error(`${row.id} was not run`);
      if (figures.skipped !== undefined) {
        console.log(`      not run: ${figures.skipped}`);
        this.skip();
      }
      expect(figures.failures, JSON.stringify(figures)).to.deep.equal([]);
    });
});
