import { setTimeout } from 'node:timers/promises';
import { KEY } from './running.js';

/** Pause of a client before each request, ms: many clients cause a steady load, not as much as possible. */
const PAUSE_MS = 50;

/** Clients that send one REST request after the other, without repeating any, until they are stopped. */
export class Requests {
  /** Number of requests that were answered as they should be. */
  answered = 0;
  /** The others: the request, and its answer or error. */
  readonly failed: string[] = [];
  #stopping = false;
  readonly #clients: Promise<unknown>;

  constructor(
    private readonly url: string,
    clients: number,
  ) {
    this.#clients = Promise.all(Array.from({ length: clients }, () => this.#run()));
  }

  /** Resolves when the last request was answered. */
  async stop(): Promise<void> {
    this.#stopping = true;
    await this.#clients;
  }

  /** The life of a device model, and a list, again and again. */
  async #run(): Promise<void> {
    const model = {
      name: 'upgraded',
      modality_channels: [{ modality: 'ppg', sample_rate_hz: 50, bit_depth: 24, num_channels: 1 }],
    };
    while (!this.#stopping) {
      const made = await this.#request('POST', '/v1/device-models', 201, model);
      const path = `/v1/device-models/${made ? (JSON.parse(made) as { id: string }).id : ''}`;
      await this.#request('GET', '/v1/sessions?limit=10', 200);
      if (!made) continue;
      await this.#request('PUT', path, 200, { name: 'renamed' });
      await this.#request('GET', path, 200);
      await this.#request('DELETE', path, 204);
    }
  }

  async #request(method: string, path: string, expected: number, json?: object): Promise<string | null> {
    await setTimeout(PAUSE_MS);
    const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' };
    const begun = new Date().toISOString();
    try {
      const answer = await fetch(`${this.url}${path}`, {
        method,
        headers,
        ...(json && { body: JSON.stringify(json) }),
      });
      const body = await answer.text();
      if (answer.status === expected) {
        this.answered += 1;
        return body;
      }
      this.failed.push(`${begun} ${method} ${path}: ${answer.status} ${body.slice(0, 200)}`);
    } catch (error) {
      this.failed.push(`${begun} ${method} ${path}: ${error}`);
    }
    return null;
  }
}
