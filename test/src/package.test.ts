import { execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { aptInstall } from '@device-insights/fanout/test-apt';
import { expect } from 'chai';
import { eventually } from './eventually.js';
import { temporaryFolder } from './running.js';
import { fileOf, registered } from './server-process.js';

const execute = promisify(execFile);
const UNITS = fileOf('gateway/deploy/systemd');

/** Prints what systemd would be told: the texts that arrive at a socket of this name. */
const SOCKET_READER = `
import socket, sys
with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as reader:
    reader.bind(sys.argv[1])
    print("bound", flush=True)
    while True:
        print(*reader.recv(4096).decode().split(), sep="\\n", flush=True)
`;

describe('the package for operators', function () {
  this.timeout(600_000); // The first run may have to install systemd.
  const folder = temporaryFolder();
  const home = join(folder.path, 'package');
  const program = join(home, 'device-insights');
  const env = { PATH: process.env.PATH, HOME: folder.path, NODE_ENV: 'production' };
  const run = (words: readonly string[], more: Readonly<Record<string, string>> = {}) =>
    execute(program, [...words], { env: { ...env, ...more }, cwd: folder.path });

  before(async () => {
    const { stdout } = await execute('npm', ['pack', '--silent', fileOf('gateway/dist/package')], { cwd: folder.path });
    execFileSync('tar', ['xzf', stdout.trim()], { cwd: folder.path });
    await execute('npm', ['ci', '--omit=dev', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: home });
  });
  after(() => folder.remove());

  it('installs two native modules and what they need, and nothing else', () => {
    const { packages } = JSON.parse(readFileSync(join(home, 'npm-shrinkwrap.json'), 'utf8')) as { packages: object };
    expect(packages).to.include.keys(
      'node_modules/libsql',
      'node_modules/bufferutil',
      'node_modules/@libsql/linux-x64-gnu',
    );
    const installed = readdirSync(join(home, 'node_modules')).filter((name) => !name.startsWith('.'));
    expect(installed).to.have.members(['@libsql', '@neon-rs', 'bufferutil', 'detect-libc', 'libsql', 'node-gyp-build']);
  });

  it('checks a configuration without changing anything', async () => {
    const data = join(folder.path, 'none');
    const { stdout } = await run(['check'], { DATA_DIR: data, PORT: '0' });
    expect(stdout).to.match(/^store: would be made in .*none\nbus: inside the process.*\nport: .*\nmetrics: none.*\n$/);
    expect(readdirSync(folder.path)).not.to.include('none');
    writeFileSync(join(folder.path, 'redis-url'), 'redis://127.0.0.1:1\n');
    const wrong = { DATADIR: data, PORT: '0', REDIS_URL_FILE: join(folder.path, 'redis-url') };
    const failed = await run(['check'], wrong).catch((error: { code: number; stdout: string }) => error);
    expect(failed).to.include({ code: 1 });
    expect(failed.stdout).to.match(/^bus: FAILED: Redis at 127\.0\.0\.1:1 cannot be reached/m);
    expect(failed.stdout).to.match(/^warning: DATADIR is not a variable .*: did you mean DATA_DIR\?$/m);
  });

  it('starts, tells systemd when it is ready, and is managed by its admin command', async () => {
    if (!hasProgram('systemd-notify')) aptInstall('systemd');
    const socket = join(folder.path, 'notify');
    const reader = registered(
      spawn('python3', ['-c', SOCKET_READER, socket], { stdio: ['ignore', 'pipe', 'inherit'] }),
    );
    const told: string[] = [];
    createInterface({ input: reader.stdout }).on('line', (line) => told.push(line));
    await eventually('the socket is there', () => told.includes('bound'));

    const data = { DATA_DIR: join(folder.path, 'data') };
    const running = { ...data, PORT: '0', LOG_LEVEL: 'warn', DASHBOARD: 'off', NOTIFY_SOCKET: socket };
    const service = registered(spawn(program, ['start'], { env: { ...env, ...running }, stdio: 'ignore' }));
    await eventually('it is ready', () => told.includes('READY=1'), 30_000);
    expect(told).to.include(`MAINPID=${service.pid}`);
    expect(readFileSync(`/proc/${service.pid}/cmdline`, 'utf8').split('\0')).to.include('--max-semi-space-size=32');
    expect(JSON.parse((await run(['admin', 'account', 'list'], data)).stdout)).to.have.length(1);
    const ended = once(service, 'exit');
    service.kill('SIGTERM');
    expect(await ended).to.deep.equal([0, null]);
    expect((await run(['check'], { ...data, PORT: '0' })).stdout).to.match(/^store: .*device-insights\.db is ready$/m);
    reader.kill();
  });

  it('prints its version, and says in one line which Node it needs and which commands there are', async () => {
    expect((await run(['--version'])).stdout).to.match(
      /^\d+\.\d+\.\d+ \(commit (?:[0-9a-f]{12}\+?|unpackaged), schema \d+\)\n$/,
    );
    expect((await run(['fanout', '--help'])).stdout).to.include('REDIS_URL');
    const unknown = await run(['begin']).catch((error: { code: number; stderr: string }) => error);
    expect(unknown).to.include({ code: 1 });
    expect(unknown)
      .to.have.property('stderr')
      .that.matches(/^there is no command 'begin': .+\n$/);

    const old = join(folder.path, 'old');
    mkdirSync(old);
    // Node 18 finds itself too old, and says its version.
    writeFileSync(join(old, 'node'), '#!/bin/sh\n[ "$1" = --version ] && echo v18.20.8 && exit\nexit 1\n');
    chmodSync(join(old, 'node'), 0o755);
    const refused = await run(['start'], { PATH: `${old}${delimiter}${env.PATH}` }).catch((error) => error);
    expect(refused).to.include({ code: 1 });
    expect(refused.stderr).to.match(/^device-insights needs Node 20\.19 or later .+; this is v18\.20\.8\n$/);
  });

  it('has units that systemd finds valid, and little exposed', async () => {
    if (!hasProgram('systemd-analyze')) aptInstall('systemd');
    const units = join(folder.path, 'units');
    mkdirSync(units);
    for (const name of readdirSync(UNITS)) {
      const text = readFileSync(join(UNITS, name), 'utf8');
      writeFileSync(join(units, name), text.replaceAll('/opt/device-insights/device-insights', program));
    }
    const paths = readdirSync(units).map((name) => join(units, name));
    const verified = await execute('systemd-analyze', ['verify', '--man=no', ...paths]);
    expect(verified.stdout + verified.stderr).to.equal('');
    for (const path of paths.filter((name) => name.endsWith('.service')))
      await execute('systemd-analyze', ['security', '--offline=true', '--threshold=29', path]);
  });
});

function hasProgram(name: string): boolean {
  try {
    execFileSync('which', [name], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
