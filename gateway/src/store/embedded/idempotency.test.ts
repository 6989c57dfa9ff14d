import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '@device-insights/fanout/platform/clock';
import { expect } from 'chai';
import { Database } from './database.js';
import { embeddedIdempotency } from './idempotency.js';
import { makeSchema } from './schema.js';

const DAY_MS = 86_400_000;

describe('the idempotency keys of an embedded store', () => {
  it('are deleted when they have expired, a few at each claim, so that no write waits for long', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'idempotency-'));
    const db = Database.toWrite(join(folder, 'a.db'), systemClock);
    await makeSchema(db);
    const { claimIdempotencyKey } = embeddedIdempotency(db);
    const claim = (n: number, at: number) =>
      claimIdempotencyKey({ accountId: 'one', route: 'POST /', key: `${n}`, bodyHash: '', at });
    await Promise.all(Array.from({ length: 250 }, (_, n) => claim(n, n)));
    const left = [];
    for (let n = 250; n < 254; n++) {
      await claim(n, DAY_MS + n);
      left.push(db.get<{ count: number }>('SELECT count(*) AS count FROM idempotency')?.count);
    }
    expect(left).to.deep.equal([151, 52, 3, 4]);
    db.close();
    rmSync(folder, { recursive: true });
  });
});
