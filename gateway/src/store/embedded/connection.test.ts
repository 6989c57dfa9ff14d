import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type Libsql from 'libsql';
import { connect } from './connection.js';
import { CAN_FAIL_READS, failReads } from './disk-fault.fixture.js';

describe('a connection to a file', () => {
  let directory: string;
  let file: string;
  let db: Libsql.Database;

  beforeEach(() => {
    directory = realpathSync(mkdtempSync(join(tmpdir(), 'device insights ä%20?#-')));
    file = join(directory, 'a file?.db');
    db = connect(file, 0);
    db.exec('CREATE TABLE numbers (n INTEGER PRIMARY KEY, text TEXT)');
    db.exec(`INSERT INTO numbers WITH RECURSIVE every(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM every LIMIT 5000)
      SELECT n, 'the text of number ' || n FROM every`);
  });

  afterEach(() => {
    db.close();
    rmSync(directory, { recursive: true });
  });

  const sum = () => db.prepare('SELECT sum(n) AS sum FROM numbers').get();

  it('takes any path', () => {
    const other = connect(file, 0);
    expect(other.prepare('SELECT count(*) AS count FROM numbers').get()).to.include({ count: 5000 });
    other.close();
  });

  it('reads and writes nothing wrong while reads of the disk fail, and works when they do', function () {
    if (!CAN_FAIL_READS) this.skip();
    const before = sum();
    db.exec('PRAGMA shrink_memory'); // forgets the pages
    const back = failReads(file);
    expect(sum).to.throw();
    expect(() => db.exec("INSERT INTO numbers (text) VALUES ('new')")).to.throw();
    expect(() => db.exec('DELETE FROM numbers WHERE n % 7 = 3')).to.throw();
    back();
    expect(sum()).to.include({ sum: (before as { sum: number }).sum });
    expect(db.prepare('PRAGMA integrity_check').all()).to.deep.include({ integrity_check: 'ok' });
  });
});
