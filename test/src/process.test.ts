import { busyLimit } from '@device-insights/fanout/platform/busy.fixture';
import { simulate } from '@device-insights/sdk/simulator';
import { expect } from 'chai';
import { Running, run, temporaryFolder } from './running.js';
import { connect, makeModel, sendFrames, subscribe } from './wearable.js';

const source = simulate({ seconds: 30 });
const ADMIN = 'gateway/dist/package/admin.js';

interface Stored {
  readonly type: string;
  readonly ts: number;
}

describe('the service as a process', () => {
  let folder: ReturnType<typeof temporaryFolder>;
  let services: Running[];

  const start = async (env: Record<string, string> = {}) => {
    const service = await Running.start({ DATA_DIR: folder.path, ...env });
    services.push(service);
    return service;
  };

  beforeEach(() => {
    folder = temporaryFolder();
    services = [];
  });
  afterEach(async () => {
    for (const service of services) await service.end('SIGKILL');
    folder.remove();
  });

  it('refuses a bad configuration with one line for each fault', async () => {
    const { code, stderr } = await run('gateway/dist/package/start.js', [], { PORT: 'http', LOG_LEVEL: 'loud' });
    expect(code).to.equal(1);
    expect(stderr.trim().split('\n')).to.have.length(2);
  });

  it('warns if its descriptor limit allows fewer connections than sessions', async () => {
    const service = await Running.start({ DATA_DIR: folder.path, MAX_SESSIONS: '101' }, 200);
    services.push(service);
    expect(service.log).to.match(/"most":100,"maxSessions":101,"msg":"the descriptor limit/);
  });

  it('prints the key of a new store once', async () => {
    const first = await start({ BOOTSTRAP_API_KEY: '' });
    const key = /svc_\w+/.exec(first.banner.join('\n'))?.[0] ?? '';
    expect((await first.call('GET', '/v1/algos', undefined, key)).status).to.equal(200);
    await first.end('SIGTERM');
    const second = await start({ BOOTSTRAP_API_KEY: '' });
    expect(second.banner.join('\n')).not.to.include('svc_');
    expect((await second.call('GET', '/v1/algos', undefined, key)).status).to.equal(200);
  });

  it('has stored every insight that a subscriber saw, also when it is killed', async () => {
    const service = await start();
    const modelId = await makeModel(service, source);
    const app = await subscribe(service);
    const { socket, ready } = await connect(service, 'killed', modelId);
    await sendFrames(socket, source, Date.now() - 30_000, 0, 30);
    const seen = [await app.next(), await app.next(), await app.next(), await app.next()];
    await service.end('SIGKILL');
    for (;;) {
      const more = await app.next().catch(() => null);
      if (!more) break;
      seen.push(more);
    }
    const again = await start();
    const { body } = await again.call<Stored[]>('GET', `/v1/sessions/${ready.session_id}/insights`);
    const stored = new Set(body.map((i) => `${i.type} ${i.ts}`));
    expect(seen.filter((i) => !stored.has(`${i.type} ${i.ts}`))).to.deep.equal([]);
  });

  it('lets a device continue its session after it was killed, and requests a replay', async () => {
    const service = await start();
    const modelId = await makeModel(service, source);
    const epoch = Date.now() - 30_000;
    const first = await connect(service, 'phoenix', modelId);
    await sendFrames(first.socket, source, epoch, 0, 10);
    await first.socket.until((m) => m.type === 'ack');
    await service.end('SIGKILL');
    const again = await start();
    const second = await connect(again, 'phoenix', modelId);
    expect(second.ready).to.include({ resumed: true, session_id: first.ready.session_id, replay_ms: 60_000 });
    await sendFrames(second.socket, source, epoch, 0, 14);
    second.socket.send({ type: 'end' });
    await second.socket.until((m) => m.type === 'ended');
    const { body } = await again.call<{ type: string; actual_end: number }[]>(
      'GET',
      `/v1/sessions/${first.ready.session_id}/insights`,
    );
    const ends = body.filter((i) => i.type === 'hr').map((i) => i.actual_end);
    expect(new Set(ends)).to.have.property('size', ends.length);
    expect(ends).to.deep.equal(Array.from({ length: 11 }, (_, i) => (ends[0] ?? 0) + 1000 * i));
  });

  it('drains on SIGTERM: received data are stored and published, sockets close with 1012, exit code 0', async () => {
    const service = await start();
    const modelId = await makeModel(service, source);
    const app = await subscribe(service);
    const { socket, ready } = await connect(service, 'drained', modelId);
    await sendFrames(socket, source, Date.now() - 30_000, 0, 12);
    await socket.until((m) => m.type === 'ack' && Object.keys(m.next_seq as object).length > 0);
    const code = service.end('SIGTERM');
    expect(await socket.closed()).to.include({ code: 1012 });
    expect(await app.closed()).to.include({ code: 1012 });
    expect(await code).to.equal(0);
    const seen: string[] = [];
    for (let i = await app.next().catch(() => null); i; i = await app.next().catch(() => null))
      seen.push(`${i.type} ${i.ts}`);
    const again = await start();
    const { body } = await again.call<Stored[]>('GET', `/v1/sessions/${ready.session_id}/insights`);
    expect(seen).to.have.members(body.map((i) => `${i.type} ${i.ts}`));
  });

  it('closes both kinds of sockets of a revoked key with 4001 within two seconds', async () => {
    const service = await start();
    const modelId = await makeModel(service, source);
    const accounts = JSON.parse((await run(ADMIN, ['account', 'list'], { DATA_DIR: folder.path })).stdout) as {
      id: string;
    }[];
    const issued = await run(ADMIN, ['key', 'issue', '--account', accounts[0]?.id ?? ''], { DATA_DIR: folder.path });
    const { id, key } = JSON.parse(issued.stdout) as { id: string; key: string };
    const app = await subscribe(service, key);
    const { socket } = await connect(service, 'revoked', modelId, key);
    const revoked = await run(ADMIN, ['key', 'revoke', id], { DATA_DIR: folder.path });
    expect(revoked.code).to.equal(0);
    const revokedAt = Date.parse((JSON.parse(revoked.stdout) as { revoked_at: string }).revoked_at);
    for (const open of [app, socket]) {
      const { code, at } = await open.closed();
      expect(code).to.equal(4001);
      expect(at - revokedAt).to.be.lessThan(busyLimit(2000));
    }
    expect((await service.call('GET', '/v1/algos', undefined, key)).status).to.equal(401);
  });

  it('gives a per-user key only the insights of the devices of that user', async () => {
    const service = await start();
    const modelId = await makeModel(service, source);
    const accounts = JSON.parse((await run(ADMIN, ['account', 'list'], { DATA_DIR: folder.path })).stdout) as {
      id: string;
    }[];
    const issue = async (user: string) => {
      const { stdout } = await run(ADMIN, ['key', 'issue', '--account', accounts[0]?.id ?? '', '--user', user], {
        DATA_DIR: folder.path,
      });
      return (JSON.parse(stdout) as { key: string }).key;
    };
    const [ann, bob] = [await issue('ann'), await issue('bob')];
    const [annApp, bobApp, all] = [
      await subscribe(service, ann),
      await subscribe(service, bob),
      await subscribe(service),
    ];
    for (const [device, key] of [
      ['ann-1', ann],
      ['bob-1', bob],
    ] as const) {
      const { socket } = await connect(service, device, modelId, key);
      await sendFrames(socket, source, Date.now() - 30_000, 0, 5);
      socket.send({ type: 'end' });
      await socket.until((m) => m.type === 'ended');
    }
    expect(await annApp.next()).to.include({ device_id: 'ann-1' });
    expect(await bobApp.next()).to.include({ device_id: 'bob-1' });
    expect(await all.next()).to.include({ device_id: 'ann-1' });
    for (const app of [annApp, bobApp, all]) app.close();
  });

  it('survives any data on its sockets', async () => {
    const service = await start();
    const modelId = await makeModel(service, source);
    const { socket } = await connect(service, 'hostile', modelId);
    for (const bytes of [new Uint8Array(0), new Uint8Array(15), new Uint8Array(17).fill(255)]) socket.send(bytes);
    socket.send({ type: 'samples', channel: 0, seq: 2 ** 53, ts: 1e308, samples: [-0, 1e308] });
    socket.send({ type: 'nonsense' });
    socket.send({ type: 'ping', t: 'x' });
    expect(await socket.until((m) => m.type === 'pong')).to.deep.equal({ type: 'pong', t: 'x' });
    socket.send(new Uint8Array(70_000));
    expect(await socket.closed()).to.include({ code: 1009 });
    expect((await fetch(`${service.url}/v1/stream/health`)).status).to.equal(200);
  });
});
