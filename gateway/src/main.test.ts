import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';

const MAIN = fileURLToPath(new URL('main.js', import.meta.url));

describe('the process of a gateway', () => {
  let folder = '';
  let gateway: ChildProcess;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'gateway-process-'));
  });
  afterEach(async () => {
    gateway.kill('SIGKILL');
    await rm(folder, { recursive: true, maxRetries: 10 });
  });

  it('drains when its terminal closes (SIGHUP), as on SIGTERM, and ends with exit code 0', async () => {
    const env = { PATH: process.env.PATH, DATA_DIR: folder, HOST: '127.0.0.1', PORT: '0', DASHBOARD: 'off' };
    gateway = spawn(process.execPath, [MAIN], { env });
    let printed = '';
    gateway.stdout?.on('data', (chunk: Buffer) => {
      printed += chunk;
    });
    const ended = once(gateway, 'close');
    while (!printed.includes('listening on')) {
      expect(gateway.exitCode, printed).to.equal(null);
      await Promise.race([once(gateway.stdout ?? gateway, 'data'), ended]);
    }
    gateway.kill('SIGHUP');
    expect(await ended).to.deep.equal([0, null]);
    expect(printed).to.match(/\nstopping: received data are stored and published\n$/);
  });

  it('says in one line what to do if it has too little address space (ulimit -v)', async () => {
    const env = { PATH: process.env.PATH, DATA_DIR: folder, PORT: '0', DASHBOARD: 'off', LOG_LEVEL: 'silent' };
    const started = spawn('sh', ['-c', 'ulimit -v 8000000 && exec "$0" "$1"', process.execPath, MAIN], { env });
    gateway = started;
    const ended = once(gateway, 'close');
    const said = await text(started.stderr);
    expect(said)
      .to.match(/^[^\n]+\n$/)
      .and.match(/signal core.*MAX_SESSIONS.*ulimit -v/);
    expect(await ended).to.deep.equal([1, null]);
  });
});
