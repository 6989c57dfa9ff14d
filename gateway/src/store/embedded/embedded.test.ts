import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '@device-insights/fanout/platform/clock';
import { storeSuite } from '../suite.js';
import { openEmbeddedStore } from './embedded.js';

const directory = await mkdtemp(join(tmpdir(), 'device-insights-'));
await storeSuite('embedded', () => openEmbeddedStore(join(directory, 'data'), systemClock));
after(() => rm(directory, { recursive: true, maxRetries: 10 }));
