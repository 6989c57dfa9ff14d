import { expect } from 'chai';
import { type RowFigures, runRows } from './matrix.js';
import { ROWS, type Row } from './rows.js';

/**
 * Few enough devices for every row to take seconds; `npm run reliability` runs the same rows with 100. A stop lasts
 * longer than two health answers may take, so that a request during the stop must fail.
 */
const SCALE = { devices: 6, subscribers: 3, stopMs: 4000 };
/** Rows that run one after the other; both lists take about as long. */
const usesMongo = ({ setup }: Row) => setup === 'mongo' || setup === 'pair';
const LANES = [ROWS.filter(usesMongo), ROWS.filter((row) => !usesMongo(row))];

describe('the fault matrix, shortened', function () {
  this.timeout(600_000);
  const results = new Map<string, RowFigures>();

  before(async () => {
    const run = async (rows: readonly Row[]) => {
      for await (const figures of runRows(rows, SCALE)) results.set(figures.id, figures);
    };
    await Promise.all(LANES.map(run));
  });

  for (const row of ROWS)
    it(`${row.fault} (${row.setup})`, function () {
      const figures = results.get(row.id);
      if (!figures) throw new Error(`${row.id} was not run`);
      if (figures.skipped !== undefined) {
        console.log(`      not run: ${figures.skipped}`);
        this.skip();
      }
      expect(figures.failures, JSON.stringify(figures)).to.deep.equal([]);
    });
});
