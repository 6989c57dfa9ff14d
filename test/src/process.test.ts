import { simulate } from '@device-insights/sdk/simulator';
import { expect } from 'chai';
import { Running, run, temporaryFolder } from './running.js';
import { connect, makeModel, sendFrames, subscribe } from './wearable.js';

const source = simulate({ seconds: 30 });

interface Stored {
  readonly type: string;
  readonly ts: number;
  readonly actual_end: number;
}

describe('the service as a process', () => {
  const folder = temporaryFolder();
  let service: Running;

  /** Too few descriptors for all sessions; a password of a dashboard that is switched off. */
  const start = () => {
    const env = { DATA_DIR: folder.path, MAX_SESSIONS: '101', DASHBOARD: 'off', DASHBOARD_PASSWORD: 'never asked for' };
    return Running.start(env, 200);
  };

  before(async () => {
    service = await start();
  });
  after(async () => {
    await service?.end('SIGKILL');
    folder.remove();
  });

  /** Ends the service and starts it again on the same data; the exit code. */
  const restart = async (signal: 'SIGTERM' | 'SIGKILL') => {
    const code = await service.end(signal);
    service = await start();
    return code;
  };
  /** The insights that a subscriber received before its socket closed. */
  const received = async (app: Awaited<ReturnType<typeof subscribe>>) => {
    const seen: string[] = [];
    for (let i = await app.next().catch(() => null); i; i = await app.next().catch(() => null))
      seen.push(`${i.type} ${i.ts}`);
    return seen;
  };
  const stored = async (session: string) =>
    (await service.call<Stored[]>('GET', `/v1/sessions/${session}/insights`)).body;

  it('refuses a bad configuration with one line for each fault', async () => {
    const { code, stderr } = await run('gateway/dist/package/start.js', [], { PORT: 'http', LOG_LEVEL: 'loud' });
    expect(code).to.equal(1);
    expect(stderr.trim().split('\n')).to.have.length(2);
  });

  it('warns if its descriptor limit allows fewer connections than sessions', () => {
    expect(service.log).to.match(/"most":100,"maxSessions":101,"msg":"the descriptor limit/);
  });

  it('has no dashboard if it is switched off', async () => {
    expect(service.banner.join('\n')).not.to.contain('dashboard');
    for (const path of ['/', '/dashboard', '/dashboard/api/me', '/docs'])
      expect((await fetch(`${service.url}${path}`)).status).to.equal(404);
  });

  it('prints the key of a new store once', async () => {
    const empty = temporaryFolder();
    const env = { DATA_DIR: empty.path, BOOTSTRAP_API_KEY: '' };
    const first = await Running.start(env);
    const key = /svc_\w+/.exec(first.banner.join('\n'))?.[0] ?? '';
    expect((await first.call('GET', '/v1/algos', undefined, key)).status).to.equal(200);
    await first.end('SIGTERM');
    const second = await Running.start(env);
    expect(second.banner.join('\n')).not.to.include('svc_');
    expect((await second.call('GET', '/v1/algos', undefined, key)).status).to.equal(200);
    await second.end('SIGKILL');
    empty.remove();
  });

  it('has stored every insight that a subscriber saw before a crash; its device continues the session with a replay', async () => {
    const modelId = await makeModel(service, source);
    const epoch = Date.now() - 30_000;
    const app = await subscribe(service);
    const first = await connect(service, 'phoenix', modelId);
    await sendFrames(first.socket, source, epoch, 0, 30);
    const seen = [await app.next(), await app.next(), await app.next(), await app.next()];
    await restart('SIGKILL');
    const saved = (await stored(first.ready.session_id)).map((i) => `${i.type} ${i.ts}`);
    expect(saved).to.include.members([...seen.map((i) => `${i.type} ${i.ts}`), ...(await received(app))]);
    const second = await connect(service, 'phoenix', modelId);
    expect(second.ready).to.include({ resumed: true, session_id: first.ready.session_id, replay_ms: 60_000 });
    await sendFrames(second.socket, source, epoch, 0, 30);
    second.socket.send({ type: 'end' });
    await second.socket.until((m) => m.type === 'ended');
    const ends = (await stored(first.ready.session_id)).filter((i) => i.type === 'hr').map((i) => i.actual_end);
    expect(ends.sort()).to.deep.equal(Array.from({ length: 27 }, (_, i) => epoch + 4000 + 1000 * i));
  });

  it('drains on SIGTERM: received data are stored and published, sockets close with 1012, exit code 0', async () => {
    const modelId = await makeModel(service, source);
    const app = await subscribe(service);
    const { socket, ready } = await connect(service, 'drained', modelId);
    await sendFrames(socket, source, Date.now() - 30_000, 0, 12);
    await socket.until((m) => m.type === 'ack' && Object.keys(m.next_seq as object).length > 0);
    expect(await restart('SIGTERM')).to.equal(0);
    expect(await socket.closed()).to.include({ code: 1012 });
    expect(await app.closed()).to.include({ code: 1012 });
    const seen = await received(app);
    expect(seen).to.have.members((await stored(ready.session_id)).map((i) => `${i.type} ${i.ts}`));
  });

  it('survives any data on its sockets', async () => {
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
