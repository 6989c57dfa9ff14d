import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '@device-insights/fanout/platform/clock';
import { storeSuite } from '../suite.js';
import { openEmbeddedStore } from './embedded.js';

describe('the embedded store', () => {
  let directory: string;

  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'device-insights-'));
  });

  after(() => rm(directory, { recursive: true, maxRetries: 10 }));

  storeSuite('embedded', () => openEmbeddedStore(join(directory, 'data'), systemClock));
});
