import { once } from 'node:events';
import { expect } from 'chai';
import fc from 'fast-check';
import { DeviceInsights } from '../client.js';
import { type Peer, SocketServer } from '../socket/socket-server.fixture.js';
import type { Device } from './device.js';
import { CHANNELS, ready } from './ready.fixture.js';

const LIMITS = { max_frame_bytes: 256, max_unacked_ms: 1e9, ack_interval_ms: 500 };

/** A service that takes every frame, and knows which samples it has. */
class Service {
  readonly server = new SocketServer();
  /** Received numbers, per channel. */
  readonly #numbers = CHANNELS.map(() => new Set<number>());
  /** What came, in order: numbers of instants, and `end`. */
  readonly log: (number | 'end')[] = [];
  #peer: Peer | null = null;

  /** How many values have come, each counted once. */
  get samples(): number {
    return CHANNELS.reduce((sum, { index, num_channels }) => sum + num_channels * this.#received(index).size, 0);
  }

  /** Makes the next connection ready. */
  async welcome(): Promise<void> {
    this.#peer = await this.server.peer();
    this.#peer.socket.on('message', (data: Buffer, isBinary) => (isBinary ? this.#take(data) : this.#end(data)));
    const channels = CHANNELS.map((channel) => ({ ...channel, next_seq: this.#next(channel.index) }));
    this.#peer.send(ready({ channels, limits: LIMITS }));
  }

  acknowledge(): void {
    this.#peer?.send({ type: 'ack', next_seq: { 0: this.#next(0), 1: this.#next(1) }, server_time: 0 });
  }

  async close(code: number): Promise<void> {
    const peer = this.#peer ?? (await this.server.peer());
    peer.socket.close(code);
    await this.gone();
  }

  async break(): Promise<void> {
    this.#peer?.socket.terminate();
    await this.gone();
  }

  /** Resolves when there is no connection any more. */
  async gone(): Promise<void> {
    const { socket } = this.#peer ?? {};
    if (socket && socket.readyState !== socket.CLOSED) await once(socket, 'close');
    this.#peer = null;
  }

  #take(frame: Buffer): void {
    const channel = frame.readUInt8(1);
    const seq = frame.readUInt32LE(4);
    const instants = (frame.length - 16) / 2 / (CHANNELS[channel]?.num_channels ?? 1);
    for (let n = seq; n < seq + instants; n++) this.#received(channel).add(n);
    this.log.push(seq);
  }

  #end(message: Buffer): void {
    if (!message.toString().includes('end')) return;
    this.log.push('end');
    this.#peer?.send({ type: 'ended', session_id: 's' });
    this.#peer?.socket.close(1000);
  }

  #received(channel: number): Set<number> {
    return this.#numbers[channel] ?? new Set();
  }

  #next(channel: number): number {
    return Math.max(-1, ...this.#received(channel)) + 1;
  }
}

type Step =
  | { readonly do: 'push' | 'send'; readonly channel: 0 | 1; readonly instants: number }
  | { readonly do: 'connect' | 'acknowledge' | 'break' | 'restart' | 'drain' };

const steps = fc.array(
  fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({
        do: fc.constantFrom('push' as const, 'send' as const),
        channel: fc.constantFrom(0 as const, 1 as const),
        instants: fc.integer({ min: 1, max: 120 }),
      }),
    },
    fc.record({ do: fc.constantFrom('connect', 'acknowledge', 'break', 'restart', 'drain') }) as fc.Arbitrary<Step>,
  ),
  { maxLength: 20 },
);

/** A device and a service in a run of steps; counts the values that the device took. */
class Run {
  readonly device: Device;
  pushed = 0;
  #next = [0, 0];
  #isConnected = false;

  constructor(
    baseUrl: string,
    readonly service: Service,
    options: object,
  ) {
    this.service = service;
    const client = new DeviceInsights({ baseUrl, apiKey: 'svc_key', backoff: { random: () => 0 } });
    this.device = client.device({ deviceId: 'band-1', deviceModelId: 'model-1', ...options });
  }

  get isConnected(): boolean {
    return this.#isConnected;
  }

  async take(step: Step): Promise<void> {
    if ('channel' in step) this.#give(step);
    else if (step.do === 'connect') await this.connect();
    else if (this.#isConnected) await this.#live(step.do);
  }

  async connect(): Promise<void> {
    if (this.#isConnected) return;
    await this.service.welcome();
    while (this.device.state !== 'live') await turn();
    this.#isConnected = true;
  }

  #give(step: Step & { instants: number; channel: 0 | 1 }): void {
    const { channel, instants } = step;
    const values = instants * (CHANNELS[channel]?.num_channels ?? 1);
    const next = this.#next[channel] ?? 0;
    this.#next[channel] = next + instants;
    const samples = new Float64Array(values);
    if (step.do === 'push') this.device.push(channel, samples);
    else this.device.send({ channel, seq: next, ts: Number.NaN, samples });
    this.pushed += values;
  }

  async #live(what: Step['do']): Promise<void> {
    if (what === 'acknowledge') return this.service.acknowledge();
    if (what === 'drain') return this.device.drained();
    await (what === 'break' ? this.service.break() : this.service.close(1012));
    while (this.device.state === 'live') await turn();
    this.#isConnected = false;
  }
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

/** Runs the steps, then `last`; the device is closed afterwards. */
async function run(taken: readonly Step[], last: (run: Run) => Promise<void>, options: object = {}): Promise<void> {
  const service = new Service();
  const all = new Run(await service.server.url(), service, options);
  try {
    for (const step of taken) await all.take(step);
    await last(all);
  } finally {
    all.device.close();
    await service.server.close();
  }
}

const RUNS = { seed: 16, numRuns: 60 };

describe('samples given to a device', () => {
  it('are sent before the end, for every way of pushing, before the connection and over reconnections', async () => {
    await fc.assert(
      fc.asyncProperty(steps, (taken) =>
        run(taken, async (all) => {
          const ended = all.device.end();
          await all.connect();
          await ended;
          expect(all.service.samples).to.equal(all.pushed);
          expect(all.service.log.indexOf('end')).to.equal(all.service.log.length - 1);
          expect(all.device.counters.samplesDropped).to.equal(0);
        }),
      ),
      RUNS,
    );
  });

  it('are sent or counted as lost if the device is closed', async () => {
    await fc.assert(
      fc.asyncProperty(steps, (taken) =>
        run(taken, async (all) => {
          const { isConnected, service, device, pushed } = all;
          device.close();
          await service.gone();
          const known = service.samples + device.counters.samplesDropped;
          if (isConnected) expect(known).to.equal(pushed);
          else expect(known).to.be.at.least(pushed);
        }),
      ),
      RUNS,
    );
  });

  it('are acknowledged or counted as lost if the service refuses the device', async () => {
    await fc.assert(
      fc.asyncProperty(steps, (taken) =>
        run(taken, async ({ service, device, pushed }) => {
          await service.close(4001);
          await device.closed;
          expect(service.samples + device.counters.samplesDropped).to.be.at.least(pushed);
        }),
      ),
      RUNS,
    );
  });

  it('are sent or counted as lost if the buffer is too small', async () => {
    await fc.assert(
      fc.asyncProperty(steps, (taken) =>
        run(
          taken,
          async (all) => {
            const ended = all.device.end();
            await all.connect();
            await ended;
            expect(all.service.samples + all.device.counters.samplesDropped).to.be.at.least(all.pushed);
          },
          { bufferBytes: 600 },
        ),
      ),
      RUNS,
    );
  });

  it('are counted as lost after an early push to a channel that does not exist', async () => {
    const service = new Service();
    const { device } = new Run(await service.server.url(), service, {});
    device.push(0, new Float64Array(30));
    device.push('ecg', new Float64Array(5));
    device.push(1, new Float64Array(6));
    const ended = device.end();
    await service.welcome();
    expect(await ended.catch((error: unknown) => error)).to.be.instanceOf(RangeError);
    await service.gone();
    expect(service.samples).to.equal(30);
    expect(device.counters.samplesDropped).to.equal(11);
    await service.server.close();
  });
});
