import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { portOf } from '@device-insights/fanout/platform/http-server';
import { expect } from 'chai';
import { Operator } from '../operator.js';
import { Running, run, temporaryFolder } from '../running.js';
import { collect, launch } from '../server-process.js';

const MAIN = 'gateway/dist/package/start.js';
const NODE = 'gateway/dist/package/fanout.js';

describe('a start', () => {
  let folder: ReturnType<typeof temporaryFolder>;
  let other: Server;
  let taken: string;

  beforeEach(async () => {
    folder = temporaryFolder();
    other = createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    taken = String(portOf(other));
  });
  afterEach(() => {
    other.close();
    folder.remove();
  });

  const expectRefusal = async (script: string, env: Record<string, string>, line: string) => {
    const outcome = await run(script, [], { DATA_DIR: folder.path, ...env });
    expect(outcome.code).to.equal(1);
    expect(`${outcome.stdout}${outcome.stderr}`.trim()).to.equal(line);
  };
  const expectAKey = async () => {
    const service = await Running.start({ DATA_DIR: folder.path, BOOTSTRAP_API_KEY: '' });
    const key = /svc_\w+/.exec(service.banner.join('\n'))?.[0] ?? '';
    expect((await service.call('GET', '/v1/algos', undefined, key)).status).to.equal(200);
    await service.end('SIGTERM');
  };

  for (const variable of ['PORT', 'METRICS_PORT']) {
    it(`on a taken ${variable} reports it, and leaves the first key to the next start`, async () => {
      const advice = `another process listens on this port; stop it, or set ${variable} to another port`;
      const env = { PORT: '0', LOG_LEVEL: 'silent', [variable]: taken };
      await expectRefusal(MAIN, env, `cannot listen on 127.0.0.1:${taken}: ${advice}`);
      await expectAKey();
    });
  }

  it('on an address of another machine reports it, and leaves the first key to the next start', async () => {
    const advice = 'this machine does not have this address; set HOST to one of its addresses, or to 0.0.0.0 for all';
    await expectRefusal(
      MAIN,
      { HOST: '192.0.2.1', PORT: '0', LOG_LEVEL: 'silent' },
      `cannot listen on 192.0.2.1:0: ${advice}`,
    );
    await expectAKey();
  });

  it('that is stopped before it has ended still shows the first key', async () => {
    const service = launch(MAIN, [], { PORT: '0', DATA_DIR: folder.path, LOG_LEVEL: 'info' });
    const shown = collect(service, 'stdout');
    service.stderr?.once('data', () => service.kill('SIGTERM'));
    expect(await once(service, 'close')).to.deep.equal([0, null]);
    expect(shown()).to.match(/^API key of the account default, shown only this once: svc_\w{32}$/m);
  });

  it('with a BOOTSTRAP_API_KEY of another account, or of a user, is refused', async () => {
    const store = { DATA_DIR: folder.path };
    await (await Running.start(store)).end('SIGTERM');
    const operator = new Operator(store);
    const line =
      'configuration: BOOTSTRAP_API_KEY must be a shared key of the account default, but this key has another account or user: choose another key';
    for (const { key } of [await operator.issue('other'), await operator.issue('default', '--user', 'ann')])
      await expectRefusal(MAIN, { PORT: '0', BOOTSTRAP_API_KEY: key, LOG_LEVEL: 'silent' }, line);
  });

  for (const script of [MAIN, NODE])
    it(`that fails is in the log too: ${script}`, async () => {
      const env = { DATA_DIR: folder.path, REDIS_URL: 'redis://127.0.0.1:1', LOG_LEVEL: 'fatal', PORT: taken };
      const { stderr } = await run(script, [], env);
      const [line = ''] = stderr.split('\n').filter((one) => one.startsWith('{'));
      expect(JSON.parse(line)).to.include({ level: 60 });
      expect(line).to.include('cannot listen');
    });

  it('of a fan-out node on a taken port reports it', async () => {
    const advice = 'another process listens on this port; stop it, or set PORT to another port';
    const env = { REDIS_URL: 'redis://127.0.0.1:1', LOG_LEVEL: 'silent', PORT: taken };
    await expectRefusal(NODE, env, `cannot listen on 127.0.0.1:${taken}: ${advice}`);
  });
});
