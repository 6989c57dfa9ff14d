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

  /** Exit code and output of a start that fails. */
  const refusalOf = async (script: string, env: Record<string, string>) => {
    const { code, stdout, stderr } = await run(script, [], { DATA_DIR: folder.path, LOG_LEVEL: 'silent', ...env });
    return { code, said: `${stdout}${stderr}`.trim() };
  };

  it('on a taken port, or an address of another machine, reports it, and leaves the first key to the next start', async () => {
    const taking = (variable: string) =>
      `cannot listen on 127.0.0.1:${taken}: another process listens on this port; stop it, or set ${variable} to another port`;
    const foreign =
      'cannot listen on 192.0.2.1:0: this machine does not have this address; set HOST to one of its addresses, or to 0.0.0.0 for all';
    const outcomes = [];
    for (const env of [{ PORT: taken }, { METRICS_PORT: taken }, { HOST: '192.0.2.1' }])
      outcomes.push(await refusalOf(MAIN, { PORT: '0', ...env }));
    const lines = [taking('PORT'), taking('METRICS_PORT'), foreign];
    const service = await Running.start({ DATA_DIR: folder.path, BOOTSTRAP_API_KEY: '' });
    const key = /svc_\w+/.exec(service.banner.join('\n'))?.[0] ?? '';
    const { status } = await service.call('GET', '/v1/algos', undefined, key);
    await service.end('SIGTERM');
    expect({ outcomes, status }).to.deep.equal({ outcomes: lines.map((said) => ({ code: 1, said })), status: 200 });
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
      expect(await refusalOf(MAIN, { PORT: '0', BOOTSTRAP_API_KEY: key })).to.deep.equal({ code: 1, said: line });
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
    const said = `cannot listen on 127.0.0.1:${taken}: ${advice}`;
    const env = { REDIS_URL: 'redis://127.0.0.1:1', PORT: taken };
    expect(await refusalOf(NODE, env)).to.deep.equal({ code: 1, said });
  });
});
