import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '@device-insights/fanout/platform/clock';
import { storeSuite } from '../suite.js';
import { openEmbeddedStore } from './embedded.js';
import { openUnthreadedStore } from './temporary-store.fixture.js';

const directory = await mkdtemp(join(tmpdir(), 'device-insights-'));
await storeSuite('embedded', () => openEmbeddedStore(join(directory, 'data'), systemClock));
await storeSuite('embedded, as in most tests', () => openUnthreadedStore(join(directory, 'unthreaded'), systemClock));
after(() => rm(directory, { recursive: true, maxRetries: 10 }));
