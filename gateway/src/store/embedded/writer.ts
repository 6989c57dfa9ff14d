import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { StoredInsight } from '../../insight.js';
import { type SessionCommit, type SessionCommitResult, StoreRefused, StoreUnavailable } from '../store.js';
import type { Database } from './database.js';
import { meaningOf } from './failures.js';
import type { Tables } from './tables.js';

/** The calls that write, which run in the writer's thread. */
const WRITES = [
  ...([
    'createAccount',
    'entitle',
    'addKey',
    'revokeKey',
    'replaceKey',
    'labelKey',
    'touchKeys',
    'forgetSubscribeKeys',
  ] as const),
  ...(['addOperator', 'setOperatorPassword', 'removeOperator', 'addLogin', 'endLogin', 'audit'] as const),
  ...(['addDeviceModel', 'replaceDeviceModel', 'deleteDeviceModel', 'putDevice', 'deleteDevice'] as const),
  ...([
    'openSession',
    'claimSession',
    'closeSession',
    'putDiagnostics',
    'takenSessions',
    'beat',
    'forgetGateways',
    'commit',
    'writeProbe',
  ] as const),
  ...(['eraseInsights', 'eraseSession', 'eraseKeys', 'eraseHoldings', 'eraseAccount'] as const),
  ...(['claimIdempotencyKey', 'saveIdempotentResponse', 'releaseIdempotencyKey'] as const),
] satisfies readonly (keyof Tables)[];
type Method = (typeof WRITES)[number];
type Writes = Pick<Tables, Method>;

/** A call sent to the thread. */
export interface Call {
  readonly n: number;
  readonly method: Method;
  readonly args: readonly unknown[];
}

/** The answer of the thread. */
export type Answer =
  | { readonly n: number; readonly result: unknown }
  | { readonly n: number; readonly error: WiredError };

/** The form of an error between threads, which do not keep its class and fields. */
interface WiredError {
  readonly name: string;
  readonly message: string;
  readonly cause: string;
  /** The damage of the file that the call has met, or the fault of its disk. */
  readonly damage: string | null;
}

interface Waiting {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
}

const THREAD = new URL('./writer-thread.js', import.meta.url);
/** Maximum number of calls that may wait for the disk: further calls are refused, as they would wait too long. */
const MAX_WAITING = 10_000;

/**
 * The writing side of an embedded store: a thread with its own connection, so that a sync of the disk does not block
 * the event loop. A call resolves when its data are on disk. If the thread ends by itself, it is replaced; the calls
 * that waited for it reject with `StoreUnavailable`, and may or may not have been done.
 */
export class Writer {
  readonly #file: string;
  readonly #reader: Pick<Database, 'refuseUnsound' | 'condemn' | 'isUnsound'>;
  readonly #waiting = new Map<number, Waiting>();
  /** Started with the first call, and again after it has ended. */
  #worker: Worker | null = null;
  #count = 0;
  #closed = false;

  /**
   * @param file the database, with its schema up to date
   * @param reader a connection to it, which knows of its damage
   */
  constructor(file: string, reader: Pick<Database, 'refuseUnsound' | 'condemn' | 'isUnsound'>) {
    this.#file = file;
    this.#reader = reader;
  }

  /** The calls of the store that write. */
  get calls(): Writes {
    const calls = WRITES.map((method) => [method, (...args: unknown[]) => this.#call(method, args)]);
    return { ...(Object.fromEntries(calls) as Writes), commit: (parts) => this.#commit(parts) };
  }

  /**
   * Commits are sent as text, and the answer lists the insights that were not written: copying objects between threads
   * costs ten times as much.
   */
  async #commit(parts: readonly SessionCommit[]): Promise<SessionCommitResult[]> {
    const outcomes = (await this.#call('commit', [JSON.stringify(parts)])) as Outcome[];
    return outcomes.map((outcome, i) => resultOf(parts[i]?.insights ?? [], outcome));
  }

  /** Ends after the waiting calls. Idempotent. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    const worker = this.#worker;
    if (!worker) return;
    worker.ref();
    const exited = once(worker, 'exit');
    if (this.#reader.isUnsound())
      void worker.terminate(); // Closing would write to a file that may have to be restored.
    else worker.postMessage('close');
    await exited;
  }

  #call(method: Method, args: readonly unknown[]): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#refuseUnable();
      const n = ++this.#count;
      this.#worker ??= this.#start();
      this.#worker.postMessage({ n, method, args } satisfies Call); // Throws if it cannot be copied; then nothing waits.
      if (this.#waiting.size === 0) this.#worker.ref(); // The process does not end while a write is in flight.
      this.#waiting.set(n, { resolve, reject });
    });
  }

  #refuseUnable(): void {
    if (this.#closed) throw new StoreUnavailable('the store is closed');
    if (this.#waiting.size >= MAX_WAITING)
      throw new StoreUnavailable('too many writes are waiting for the disk of the embedded store');
    this.#reader.refuseUnsound();
  }

  #start(): Worker {
    // Its descriptors stay open when it ends: closing one would release the locks of the whole process.
    const worker = new Worker(THREAD, { workerData: this.#file, trackUnmanagedFds: false });
    worker.unref();
    worker.on('message', (answer: Answer) => this.#answer(answer));
    worker.on('error', (error) => this.#fail(error));
    worker.on('exit', () => {
      this.#worker = null;
      this.#fail(new Error('the thread has ended'));
    });
    return worker;
  }

  #answer(answer: Answer): void {
    const waiting = this.#waiting.get(answer.n);
    this.#waiting.delete(answer.n);
    if (this.#waiting.size === 0 && !this.#closed) this.#worker?.unref();
    if ('error' in answer) {
      if (answer.error.damage !== null) this.#reader.condemn(answer.error.damage);
      waiting?.reject(unwired(answer.error));
    } else waiting?.resolve(answer.result);
  }

  #fail(cause: Error): void {
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    const error = new StoreUnavailable('the thread that writes to the embedded store failed', { cause });
    for (const { reject } of waiting) reject(error);
  }
}

/**
 * The result of a part of a commit: null if the session is lost, otherwise the positions of the insights that existed
 * already, and whether the session is closed.
 */
type Outcome = Existed | { readonly closed: Existed } | null;
type Existed = readonly number[];

/** Runs a commit that was sent as text. */
export async function commitText(tables: Pick<Tables, 'commit'>, text: string): Promise<Outcome[]> {
  const parts = JSON.parse(text) as SessionCommit[]; // Made by `JSON.stringify` in the other thread.
  const results = await tables.commit(parts);
  return results.map((result, i) => outcomeOf(parts[i]?.insights ?? [], result));
}

function outcomeOf(insights: readonly StoredInsight[], result: SessionCommitResult): Outcome {
  if (result.lost) return null;
  const existed = existedOf(insights, result.written);
  return result.closed ? { closed: existed } : existed;
}

function existedOf(insights: readonly StoredInsight[], kept: readonly StoredInsight[]): Existed {
  if (kept.length === insights.length) return [];
  const written = new Set(kept);
  return insights.flatMap((insight, i) => (written.has(insight) ? [] : [i]));
}

function resultOf(insights: readonly StoredInsight[], outcome: Outcome): SessionCommitResult {
  if (outcome === null) return { lost: true };
  if ('closed' in outcome) return { lost: false, written: without(insights, outcome.closed), closed: true };
  return { lost: false, written: without(insights, outcome) };
}

function without(insights: readonly StoredInsight[], existed: Existed): StoredInsight[] {
  return existed.length === 0 ? [...insights] : insights.filter((_, i) => !existed.includes(i));
}

/** Converts an error for sending it to another thread. */
export function wired(error: unknown): WiredError {
  if (!(error instanceof Error)) return { name: 'Error', message: String(error), cause: '', damage: null };
  const { name, message, cause } = error;
  if (!(cause instanceof Error)) return { name, message, cause: '', damage: null };
  const damage = meaningOf(cause) === 'damaged' ? cause.message : null;
  return { name, message, cause: `${cause.name}: ${cause.message}`, damage };
}

function unwired({ name, message, cause }: WiredError): Error {
  const options = cause === '' ? undefined : { cause };
  if (name === 'StoreUnavailable') return new StoreUnavailable(message, options);
  return name === 'StoreRefused' ? new StoreRefused(message, options) : new Error(message, options);
}
