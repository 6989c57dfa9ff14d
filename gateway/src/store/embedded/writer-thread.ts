import { parentPort, workerData } from 'node:worker_threads';
import { systemClock } from '@device-insights/fanout/platform/clock';
import { Database } from './database.js';
import { tablesOn } from './tables.js';
import { type Answer, type Call, commitText, wired } from './writer.js';

// The thread that writes to the embedded store: runs the calls of its writer (`writer.ts`) and answers each once it is
// on disk.

/** Size to which the log is cut when it begins again: it grows while others read long, as a backup does. */
const MAX_IDLE_LOG_BYTES = 64 * 1024 * 1024;

if (!parentPort) throw new Error('this file is a thread of the embedded store; it cannot be run as a program');
const port = parentPort;
const db = Database.toWrite(String(workerData), systemClock);
db.exec(`PRAGMA synchronous = FULL; PRAGMA journal_size_limit = ${MAX_IDLE_LOG_BYTES}`);
db.guard();
const tables = tablesOn(db);
const calls = { ...tables, commit: (text: string) => commitText(tables, text) };

port.on('message', (call: Call | 'close') => {
  if (call === 'close') {
    db.close();
    setImmediate(() => port.close()); // Once the waiting calls have been answered.
  } else void answer(call);
});

async function answer({ n, method, args }: Call): Promise<void> {
  // The writer's types guarantee that the arguments fit the method.
  const run = calls[method] as (...args: readonly unknown[]) => Promise<unknown>;
  const answered: Answer = await run(...args).then(
    (result) => ({ n, result }),
    (error: unknown) => ({ n, error: wired(error) }),
  );
  port.postMessage(answered);
}
