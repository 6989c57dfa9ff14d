import { parentPort, workerData } from 'node:worker_threads';
import { systemClock } from '@device-insights/fanout/platform/clock';
import { Database } from './database.js';
import { type Abort, type Answer, type Call, type ThreadData, wired } from './store-thread.js';
import { tablesOn } from './tables.js';

// A thread of the embedded store: runs the calls of `store-thread.ts`, and answers a write once it is on disk.

/** Size to which the log is cut when it begins again: it grows while others read long, as a backup does. */
const MAX_IDLE_LOG_BYTES = 64 * 1024 * 1024;

if (!parentPort) throw new Error('this file is a thread of the embedded store; it cannot be run as a program');
const port = parentPort;
const db = opened(workerData as ThreadData);
db.guard();
const tables = tablesOn(db);
/** Signals of running calls, by their numbers. */
const signals = new Map<number, AbortController>();
/** Pages that are read one by one, by the numbers of their calls. */
const iterations = new Map<number, AsyncIterator<unknown>>();
const calls = {
  ...tables,
  next: (iteration: number) => iterations.get(iteration)?.next(),
  return: (iteration: number) => void iterations.delete(iteration),
};

port.on('message', (message: Call | Abort | 'close') => {
  if (message === 'close') {
    db.close();
    setImmediate(() => port.close()); // Once the waiting calls have been answered.
  } else if ('abort' in message) signals.get(message.abort)?.abort();
  else void answer(message);
});

function opened({ file, writes }: ThreadData): Database {
  if (!writes) return Database.toRead(file, systemClock);
  const made = Database.toWrite(file, systemClock);
  made.exec(`PRAGMA synchronous = FULL; PRAGMA journal_size_limit = ${MAX_IDLE_LOG_BYTES}`);
  return made;
}

async function answer(call: Call): Promise<void> {
  const { n } = call;
  const answered: Answer = await resultOf(call).then(
    (result) => ({ n, result }),
    (error: unknown) => ({ n, error: wired(error) }),
  );
  port.postMessage(answered);
}

async function resultOf({ n, method, args, hasSignal }: Call): Promise<unknown> {
  // The types of the calls guarantee that the arguments fit the method.
  const run = calls[method] as (...args: readonly unknown[]) => unknown;
  if (hasSignal) {
    const left = new AbortController();
    signals.set(n, left);
    return Promise.resolve(run(...args, left.signal)).finally(() => signals.delete(n));
  }
  const result = run(...args);
  if (!isPages(result)) return result;
  iterations.set(n, result[Symbol.asyncIterator]());
  return n;
}

function isPages(result: unknown): result is AsyncIterable<unknown> {
  return typeof result === 'object' && result !== null && Symbol.asyncIterator in result;
}
