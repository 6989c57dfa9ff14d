import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { StoredInsight } from '../../insight.js';
import { BadCursor, PAGES, type SessionCommitResult, type Store, StoreRefused, StoreUnavailable } from '../store.js';
import { meaningOf } from './failures.js';
import { type Outcome, type Tables, WRITES } from './kinds.js';
import type { Soundness } from './soundness.js';

/** The data with which the thread starts. */
export interface ThreadData {
  /** The database, with its schema up to date. */
  readonly file: string;
  /** Whether its connection writes. */
  readonly writes: boolean;
}

/** A call sent to the thread. */
export interface Call {
  readonly n: number;
  readonly method: keyof Tables | 'next' | 'return';
  readonly args: readonly unknown[];
  /** Whether the last parameter is an `AbortSignal`; the thread makes its own. */
  readonly hasSignal: boolean;
}

/** The client of a call has left: the thread aborts the signal of the call. */
export interface Abort {
  readonly abort: number;
}

/** The answer of the thread. That of a call that returns pages is a number, for `next` and `return`. */
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

const THREAD = new URL('./thread.js', import.meta.url);
/** Maximum number of calls that may wait for a thread: further calls are refused, as they would wait too long. */
const MAX_WAITING = 10_000;

/**
 * A thread with its own connection to an embedded store, so that the disk does not block the event loop. A call that writes
 * resolves when its data are on disk. If the thread ends by itself, it is replaced; the calls that waited for it reject
 * with `StoreUnavailable`, and may or may not have been done.
 */
export class StoreThread {
  readonly #waiting = new Map<number, Waiting>();
  /** Started with the first call, and again after it has ended. */
  #worker: Worker | null = null;
  #count = 0;
  #closed = false;

  /** @param soundness the state of the file; writes are refused when it is not sound */
  constructor(
    private readonly data: ThreadData,
    private readonly soundness: Soundness,
  ) {}

  /** Runs a call in the thread. Its last parameter may be a signal: when it is aborted, the call ends early. */
  call(method: Call['method'], args: readonly unknown[]): Promise<unknown> {
    const signal = args.at(-1);
    if (!(signal instanceof AbortSignal)) return this.#call(method, args, false);
    if (signal.aborted) return Promise.reject(signal.reason);
    const called = this.#call(method, args.slice(0, -1), true);
    const abort: Abort = { abort: this.#count };
    const leave = () => this.#worker?.postMessage(abort);
    signal.addEventListener('abort', leave);
    return called.finally(() => signal.removeEventListener('abort', leave));
  }

  /** Runs a call that returns pages, each of which is read when it is asked for. */
  async *pages(method: Call['method'], args: readonly unknown[]): AsyncGenerator<unknown> {
    const iteration = await this.call(method, args);
    try {
      for (;;) {
        const { done, value } = (await this.call('next', [iteration])) as IteratorResult<unknown>;
        if (done) return;
        yield value;
      }
    } finally {
      this.call('return', [iteration]).catch(() => undefined); // The thread has ended, and its iterations with it.
    }
  }

  /** Ends after the waiting calls. Idempotent. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    const worker = this.#worker;
    if (!worker) return;
    worker.ref();
    const exited = once(worker, 'exit');
    if (this.soundness.isUnsound())
      void worker.terminate(); // Closing would write to a file that may have to be restored.
    else worker.postMessage('close');
    await exited;
  }

  #call(method: Call['method'], args: readonly unknown[], hasSignal: boolean): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#refuseUnable();
      const n = ++this.#count;
      this.#worker ??= this.#start();
      this.#worker.postMessage({ n, method, args, hasSignal } satisfies Call); // Throws if it cannot be copied; then nothing waits.
      if (this.#waiting.size === 0) this.#worker.ref(); // The process does not end while a call is in flight.
      this.#waiting.set(n, { resolve, reject });
    });
  }

  #refuseUnable(): void {
    if (this.#closed) throw new StoreUnavailable('the store is closed');
    if (this.#waiting.size >= MAX_WAITING)
      throw new StoreUnavailable('too many calls are waiting for the disk of the embedded store');
    if (this.data.writes) this.soundness.refuse();
  }

  #start(): Worker {
    // Its descriptors stay open when it ends: closing one would release the locks of the whole process.
    const worker = new Worker(THREAD, { workerData: this.data, trackUnmanagedFds: false });
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
      if (answer.error.damage !== null) this.soundness.condemn(answer.error.damage);
      waiting?.reject(unwired(answer.error));
    } else waiting?.resolve(answer.result);
  }

  #fail(cause: Error): void {
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    const does = this.data.writes ? 'writes to' : 'reads';
    const error = new StoreUnavailable(`the thread that ${does} the embedded store failed`, { cause });
    for (const { reject } of waiting) reject(error);
  }
}

/** A connection of the store, wherever it runs. */
export type Connection = Pick<StoreThread, 'call' | 'pages' | 'close'>;

/** The operations of a store of the given names, run on its two connections. */
export function operationsIn(
  methods: readonly string[],
  reader: Connection,
  writer: Connection,
): Omit<Tables, 'commitText'> & Pick<Store, 'commit'> {
  const calls = methods.map((method) => {
    const thread = (WRITES as readonly string[]).includes(method) ? writer : reader;
    const kind = PAGES.includes(method) ? 'pages' : 'call';
    return [method, (...args: unknown[]) => thread[kind](method as keyof Tables, args)];
  });
  const { commitText, ...others }: Tables = Object.fromEntries(calls); // The thread runs those of the same name.
  return {
    ...others,
    commit: async (parts) => {
      const outcomes = await commitText(JSON.stringify(parts));
      return outcomes.map((outcome, i) => (outcome.lost ? outcome : resultOf(parts[i]?.insights ?? [], outcome)));
    },
  };
}

function resultOf(
  insights: readonly StoredInsight[],
  { existed, ...result }: Outcome & { readonly lost: false },
): SessionCommitResult {
  return { ...result, written: existed.length === 0 ? [...insights] : insights.filter((_, i) => !existed.includes(i)) };
}

/** Converts an error for sending it to another thread. */
export function wired(error: unknown): WiredError {
  if (!(error instanceof Error)) return { name: 'Error', message: String(error), cause: '', damage: null };
  const { name, message, cause } = error;
  if (!(cause instanceof Error)) return { name, message, cause: '', damage: null };
  const damage = meaningOf(cause) === 'damaged' ? cause.message : null;
  return { name, message, cause: `${cause.name}: ${cause.message}`, damage };
}

const ERRORS: Readonly<Record<string, new (message: string, options?: ErrorOptions) => Error>> = {
  StoreUnavailable,
  StoreRefused,
  BadCursor,
};

function unwired({ name, message, cause }: WiredError): Error {
  const Class = ERRORS[name] ?? Error;
  return new Class(message, cause === '' ? undefined : { cause });
}
