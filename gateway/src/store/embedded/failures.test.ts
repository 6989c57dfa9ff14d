import { expect } from 'chai';
import { StoreRefused, StoreUnavailable } from '../store.js';
import { told } from './failures.js';

const error = (rawCode: number) => Object.assign(new Error('a fault'), { rawCode });

describe('a failure of SQLite', () => {
  it('is a refusal exactly if the content is refused', () => {
    for (let code = 1; code <= 26; code++)
      expect(told(error(code)) instanceof StoreRefused, String(code)).to.equal([18, 19, 20].includes(code));
    expect(told(error(1299))).to.be.instanceOf(StoreRefused); // SQLITE_CONSTRAINT_NOTNULL
  });

  it('is worth a retry, or waits until the file is repaired, unless the program is at fault', () => {
    const bugs = [1, 12, 16, 21, 24, 25];
    for (let code = 1; code <= 26; code++) {
      if ([18, 19, 20].includes(code)) continue;
      expect(told(error(code)) instanceof StoreUnavailable, String(code)).to.equal(!bugs.includes(code));
    }
    expect(told(error(8 | (4 << 8)))).to.be.instanceOf(StoreUnavailable); // SQLITE_READONLY_DBMOVED
    for (const other of [error(1), new TypeError('x'), 'text']) expect(told(other)).to.equal(other);
  });

  it('says what to check if a file cannot be opened, made or written, also by an extended code', () => {
    for (const code of [14, 14 | (1 << 8)])
      expect(String(told(error(code)))).to.match(/a fault: check the free space and inodes of the disk \(df -i\)/);
    for (const code of [10, 10 | (19 << 8)])
      expect(String(told(error(code)))).to.match(/a fault: check the disk .*DATA_DIR.* and its free space$/);
    expect(String(told(error(13)))).to.match(/a fault: free space on the disk .*DATA_DIR\)$/);
    expect(String(told(error(7)))).to.match(/a fault$/);
  });

  it('says what to check if the file may be damaged: a start ends with it', () => {
    for (const code of [11, 26])
      expect(String(told(error(code)))).to.match(/a fault: check the disk .*DATA_DIR.*backup/);
  });
});
