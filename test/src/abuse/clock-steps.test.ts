import { busyLimit } from '@device-insights/fanout/platform/busy.fixture';
import { startRedis, type TestRedis } from '@device-insights/fanout/test-redis';
import { DeviceInsights, type LiveInsight } from '@device-insights/sdk';
import { simulate } from '@device-insights/sdk/simulator';
import { expect } from 'chai';
import { App, identity } from '../app.js';
import { eventually } from '../eventually.js';
import { type FakeTime, fakeTime } from '../fake-time.js';
import { Operator } from '../operator.js';
import { ReverseProxy } from '../reverse-proxy.js';
import { KEY, Running, run, temporaryFolder } from '../running.js';
import { RawSocket } from '../socket.js';
import { makeModel, sendFrames } from '../wearable.js';

const ADMIN = 'gateway/dist/package/admin.js';
const HOUR_MS = 3_600_000;
/** The device's data begin so long ago that they never reach the future, ms. */
const AGE_MS = 60_000;
const SOURCE = simulate({ seconds: 60 });

interface Stored {
  readonly session_id: string;
  readonly type: string;
  readonly ts: number;
  readonly actual_end: number;
}

interface Ready {
  readonly session_id: string;
  readonly resumed: boolean;
  readonly replay_ms: number;
  readonly server_time: number;
}

/** Connects a device that announces its own, correct time. */
async function connect(service: Running, deviceId: string, modelId: string, key: string) {
  const query = { device_id: deviceId, device_model_id: modelId, api_key: key, clock: `${Date.now()}` };
  const socket = new RawSocket(`${service.wsUrl}/stream/ingest?${new URLSearchParams(query)}`);
  const ready = (await socket.next()) as unknown as Ready;
  return { socket, ready };
}

/** A device that sends its source in parts, on request of the test. */
class Device {
  #at = 0;

  private constructor(
    readonly deviceId: string,
    readonly modelId: string,
    readonly sessionId: string,
    public socket: RawSocket,
    readonly epoch: number,
    readonly shift: number,
  ) {}

  static async start(service: Running, deviceId: string, key = KEY): Promise<Device> {
    const modelId = await makeModel(service, SOURCE);
    const { socket, ready } = await connect(service, deviceId, modelId, key);
    const shift = ready.server_time - Date.now();
    const isShifted = Math.abs(shift) > 1000;
    return new Device(deviceId, modelId, ready.session_id, socket, Date.now() - AGE_MS, isShifted ? shift : 0);
  }

  async send(seconds: number): Promise<void> {
    await sendFrames(this.socket, SOURCE, this.epoch, this.#at, this.#at + seconds);
    this.#at += seconds;
  }

  /** Sends the next part, and waits until its readings are stored. */
  async measure(service: Running, seconds = 5): Promise<Stored[]> {
    await this.send(seconds);
    const due = this.epoch + this.shift + (this.#at - 3) * 1000;
    let stored: Stored[] = [];
    await eventually(`readings of ${this.deviceId} go on`, async () => {
      stored = await this.stored(service);
      return stored.some(({ type, actual_end }) => type === 'hr' && actual_end >= due);
    });
    return stored;
  }

  async stored(service: Running): Promise<Stored[]> {
    return (await service.call<Stored[]>('GET', `/v1/sessions/${this.sessionId}/insights`)).body;
  }

  /** Reconnects after its connection broke. */
  async comeBack(service: Running) {
    this.socket.close();
    await this.socket.closed();
    const { socket, ready } = await connect(service, this.deviceId, this.modelId, KEY);
    this.socket = socket;
    return ready;
  }
}

/** Readings by type, in the order of their windows. */
function lines(stored: readonly Stored[]): Stored[][] {
  return [...new Set(stored.map(({ type }) => type))].map((type) =>
    stored.filter((insight) => insight.type === type).sort((a, b) => a.actual_end - b.actual_end),
  );
}

function expectAscending(stored: readonly Stored[]): void {
  for (const line of lines(stored))
    for (const [i, { ts, type }] of line.entries()) expect(ts, `${type} ${i}`).to.be.greaterThan(line[i - 1]?.ts ?? 0);
}

/** Checks that no window of a type is missing. */
function expectWhole(stored: readonly Stored[]): void {
  for (const line of lines(stored)) {
    const period = line[0]?.type === 'rr' ? 2000 : 1000;
    expect(line.map(({ actual_end }) => actual_end)).to.deep.equal(
      line.map((_, i) => (line[0]?.actual_end ?? 0) + i * period),
    );
  }
}

describe('a clock that is set while the service runs', () => {
  let time: FakeTime;
  let folder: ReturnType<typeof temporaryFolder>;
  let running: Running[] = [];
  let apps: App[] = [];
  let proxy: ReverseProxy | null = null;

  beforeEach(() => {
    time = fakeTime();
    folder = temporaryFolder();
  });
  afterEach(async () => {
    for (const app of apps) app.close();
    proxy?.close();
    await Promise.all(running.map((service) => service.end('SIGKILL')));
    [running, apps] = [[], []];
    time.remove();
    folder.remove();
  });

  const start = async (env: Record<string, string> = {}) => {
    const service = await Running.start({ DATA_DIR: folder.path, ...time.env, ...env });
    running.push(service);
    return service;
  };
  const follow = async (place: Running, key?: string) => {
    const app = new App([place], key);
    apps.push(app);
    await eventually('the app is subscribed', () => app.current !== null);
    return app;
  };

  for (const [direction, step] of [
    ['back', -HOUR_MS],
    ['forward', HOUR_MS],
  ] as const)
    describe(`by an hour, ${direction}`, () => {
      it('does not stop readings, reconnections, ends or new sessions', async () => {
        const service = await start();
        const app = await follow(service);
        const device = await Device.start(service, 'steady');
        await device.measure(service, 10);
        time.step(step);
        await device.measure(service);
        expect(await device.comeBack(service)).to.include({
          session_id: device.sessionId,
          resumed: true,
          replay_ms: 0,
        });
        await device.measure(service);
        const later = await Device.start(service, 'later');
        await later.measure(service, 10);
        device.socket.send({ type: 'end' });
        await device.socket.until(({ type }) => type === 'ended');
        const stored = await device.stored(service);
        expectAscending(stored);
        expectWhole(stored);
        expect(await service.health()).to.include({ ok: true, ingest: true, subscribe: true });
        await eventually('the app has them all', () =>
          stored.every((insight) => app.insights.some((seen) => identity(seen) === identity(insight))),
        );
        expect(app.codes).to.deep.equal([]);
        expect(service.log.match(/"level":[56]0.*/)).to.equal(null);
      });

      it('loses nothing at SIGTERM, and the next start continues after the last stamp', async () => {
        const service = await start();
        const device = await Device.start(service, 'restarted');
        await device.measure(service, 10);
        time.step(step);
        await device.send(5);
        await device.socket.until(({ type }) => type === 'ack');
        expect(await service.end('SIGTERM')).to.equal(0);
        const next = await start();
        expect(await device.comeBack(next)).to.include({ session_id: device.sessionId, resumed: true });
        await sendFrames(device.socket, SOURCE, device.epoch, 0, 15);
        const stored = await device.measure(next);
        expectAscending(stored);
        expectWhole(stored);
      });

      it('closes the sockets of a revoked key within 2 s, whichever clock was set', async () => {
        const service = await start();
        const env = { DATA_DIR: folder.path };
        const here = new Operator(env);
        const keys = [await here.issue('default'), await here.issue('default'), await here.issue('default')];
        const places = await Promise.all(keys.map(({ key }) => follow(service, key)));
        const devices = await Promise.all(keys.map(({ key }, i) => Device.start(service, `revoked-${i}`, key)));
        const stepped = { revoke: (id: string) => run(ADMIN, ['key', 'revoke', id], { ...env, ...time.env }) };
        const revoke = async (i: number, operator: { revoke(id: string): Promise<unknown> }) => {
          await operator.revoke(keys[i]?.id ?? '');
          const took = await eventually('the socket of the app is closed', () => places[i]?.codes.length === 1);
          expect(took).to.be.lessThan(busyLimit(2000));
          expect(places[i]?.codes).to.deep.equal([4001]);
          expect(await devices[i]?.socket.closed()).to.include({ code: 4001 });
        };
        await revoke(0, here);
        time.step(step);
        await revoke(1, stepped);
        await revoke(2, here);
      });
    });

  it('back before a start: the SDK misses nothing that was published before it was connected again', async () => {
    const service = await start();
    proxy = await ReverseProxy.open(service.url, service.url);
    const client = new DeviceInsights({ baseUrl: proxy.url, apiKey: KEY, backoff: { maxMs: 200 } });
    const live = client.live.subscribe({ onHole: (hole) => expect.fail(`a hole: ${hole.cause.message}`) });
    await live.subscribed();
    await (await Device.start(service, 'before')).measure(service, 10);
    expect(await service.end('SIGTERM')).to.equal(0);
    time.step(-HOUR_MS / 2);
    const next = await start();
    expect(next.log).to.include('a gateway of this store had a clock that is ahead');
    const device = await Device.start(next, 'after');
    await device.measure(next, 10);
    [proxy.gateway, proxy.node] = [next.url, next.url];
    await eventually('the SDK is connected again', () => live.reconnects > 0);
    const stored = await device.measure(next);
    const seen: LiveInsight[] = [];
    for await (const insight of live) {
      if (insight.session_id === device.sessionId) seen.push(insight);
      if (seen.length === stored.length) break;
    }
    expect(new Set(seen.map(identity))).to.deep.equal(new Set(stored.map(identity)));
  });

  describe('of one gateway of two', () => {
    let redis: TestRedis;
    before(async () => {
      redis = await startRedis();
    });
    after(() => redis?.stop());

    for (const [direction, step] of [
      ['back', -HOUR_MS],
      ['forward', HOUR_MS],
    ] as const)
      it(`by an hour, ${direction}: both keep their sessions, and a device goes over to the other one and back`, async () => {
        const env = { REDIS_URL: redis.url, SESSION_GRACE_MS: '1000' };
        const [stepped, steady] = [await start(env), await start({ ...env, LD_PRELOAD: '' })];
        const device = await Device.start(stepped, 'wanderer');
        const other = await Device.start(steady, 'settler');
        await device.measure(stepped, 10);
        await other.measure(steady, 10);
        time.step(step);
        const begun = Date.now();
        await eventually('each has looked at the other for longer than a gateway may be silent', () => {
          return Date.now() - begun > 7000;
        });
        await other.measure(steady);
        await device.measure(stepped);
        expect(await device.comeBack(steady)).to.include({ session_id: device.sessionId, resumed: true });
        await sendFrames(device.socket, SOURCE, device.epoch, 0, 15);
        await device.measure(steady);
        expect(await device.comeBack(stepped)).to.include({ session_id: device.sessionId, resumed: true });
        await sendFrames(device.socket, SOURCE, device.epoch, 0, 20);
        const stored = await device.measure(stepped);
        expectAscending(stored);
        expectWhole(stored);
        expectWhole(await other.measure(steady));
      });
  });
});
