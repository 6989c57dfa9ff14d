import { systemClock } from '@device-insights/fanout/platform/clock';
import { opened, partOf, sampleInsight } from '../suite/samples.js';
import { openEmbeddedStore } from './embedded.js';

// A separate process for the tests: commits to the store in argv[2] without a pause until it is killed, and prints a
// session's id, then the end of each window once its commit is acknowledged.
const store = await openEmbeddedStore(process.argv[2] ?? '', systemClock);
const session = await opened(store);
process.stdout.write(`${session.id}\n`);
for (let i = 0; ; i++) {
  await store.commit([partOf(session, [sampleInsight(session, session.startedAt + i * 1000)])]);
  process.stdout.write(`${session.startedAt + i * 1000}\n`);
}
