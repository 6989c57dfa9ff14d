import { EventEmitter } from 'node:events';
import { createContext, runInContext } from 'node:vm';
import { WebSocket } from 'ws';

/** React Native's signal: without a reason, `throwIfAborted`, or options of its listeners. */
class NativeSignal {
  aborted = false;
  readonly events = new EventEmitter();
  addEventListener(name: string, listener: () => void): void {
    this.events.on(name, listener);
  }
  removeEventListener(name: string, listener: () => void): void {
    this.events.off(name, listener);
  }
}

class NativeAbortController {
  readonly signal = new NativeSignal();
  abort(): void {
    if (this.signal.aborted) return;
    this.signal.aborted = true;
    this.signal.events.emit('abort');
  }
}

/** React Native's fetch: its answers have no streams. */
async function nativeFetch(url: string, { signal, ...init }: { readonly signal?: NativeSignal }) {
  const abort = new AbortController();
  signal?.events.on('abort', () => abort.abort());
  const { status, headers, text } = await fetch(url, { ...init, signal: abort.signal }).then(async (response) => ({
    status: response.status,
    headers: response.headers,
    text: await response.text(),
  }));
  return { status, ok: status < 400, headers, text: async () => text };
}

/** React Native's WebSocket: it sends pings, and does not tell of the answers. */
class NativeWebSocket {
  onopen = (_: object) => {};
  onmessage = (_: object) => {};
  onclose = (_: object) => {};
  onerror = (_: object) => {};
  readonly #socket: WebSocket;

  constructor(url: string) {
    this.#socket = new WebSocket(url);
    this.#socket.onopen = () => this.onopen({});
    this.#socket.onmessage = ({ data }) => this.onmessage({ data });
    this.#socket.onclose = ({ code, reason }) => this.onclose({ code, reason });
    this.#socket.onerror = ({ message }) => this.onerror({ message });
  }
  get readyState(): number {
    return this.#socket.readyState;
  }
  send(data: string | Uint8Array): void {
    this.#socket.send(data);
  }
  close(code?: number, reason?: string): void {
    this.#socket.close(code, reason);
  }
  ping(): void {
    this.#socket.ping();
  }
}

/**
 * Runs a script with the globals of React Native that a client needs, and no others: React Native has no `crypto` and no
 * `TextDecoder`, and its `URL`, `Blob` and `Response` lack much, so they are left out.
 *
 * @returns the script's global object
 */
export function inReactNative(script: string): Record<string, unknown> {
  const globals: Record<string, unknown> = createContext({
    AbortController: NativeAbortController,
    WebSocket: NativeWebSocket,
    fetch: nativeFetch,
    performance: { now: () => performance.now() },
    setTimeout,
    clearTimeout,
    console,
  });
  runInContext('globalThis.global = globalThis.window = globalThis;', globals);
  runInContext(script, globals);
  return globals;
}
