import { type ChildProcess, execFileSync, type StdioOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, mkdtempSync, openSync, readSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { until } from './until.fixture.js';

/** Lines that no pipe holds, but the memory of the log does. */
const MANY = 4000;
/** Lines that the memory of the log does not hold. */
const FLOOD = 60_000;

describe('the log of a process', () => {
  let child: ChildProcess;
  let printed: string;
  let opened: number[];
  let directory: string;

  beforeEach(() => {
    printed = '';
    opened = [];
    directory = mkdtempSync(join(tmpdir(), 'log-'));
  });

  afterEach(() => {
    child.kill('SIGKILL');
    for (const descriptor of opened) closeSync(descriptor);
    rmSync(directory, { recursive: true });
  });

  /** Runs a program that has a `log`, `flood`s it, and takes lines from stdin (`next`). */
  function run(program: string, stderr: number | 'pipe'): void {
    const module = (name: string) => new URL(`${name}.js`, import.meta.url);
    const prelude = `
      import { once } from 'node:events';
      import { surviveConnections } from '${module('last-resort')}';
      import { processLog } from '${module('log')}';
      const log = processLog('info');
      surviveConnections(log);
      const flood = (lines) => { for (let n = 0; n < lines; n++) log.info({ n, pad: 'x'.repeat(100) }, 'one of many'); };
      const next = () => once(process.stdin, 'data');`;
    const stdio: StdioOptions = ['pipe', 'pipe', stderr];
    child = spawn(process.execPath, ['--input-type=module', '-e', `${prelude}\n${program}`], { stdio });
    child.stdout?.on('data', (chunk) => {
      printed += chunk;
    });
  }

  function open(path: string, flags: number): number {
    const descriptor = openSync(path, flags);
    opened.push(descriptor);
    return descriptor;
  }

  /** A pipe for a program to write into. A program that ends makes its own descriptor block, so this one is apart. */
  function pipe(): { readonly reader: number; readonly writer: number } {
    const path = join(directory, 'pipe');
    execFileSync('mkfifo', [path]);
    const [writer, reader] = [constants.O_RDWR, constants.O_RDONLY].map((flag) =>
      open(path, flag | constants.O_NONBLOCK),
    );
    return { reader: reader ?? -1, writer: writer ?? -1 };
  }

  const read = () => text(child.stderr as NodeJS.ReadableStream);
  const exitCode = async () => (await once(child, 'exit'))[0];
  const END = "setTimeout(() => { console.log('alive'); process.exit(0); });";
  const BUG = "setImmediate(() => { throw new TypeError('a bug'); });";

  it('is complete, in order, when the process ends right after it', async () => {
    run(`flood(${MANY}); process.exit(0);`, 'pipe');
    const lines = (await read()).trim().split('\n');
    expect(lines.map((line) => JSON.parse(line).n)).to.deep.equal(Array.from({ length: MANY }, (_, n) => n));
  });

  it('is complete when its reader is slow and the process ends', async () => {
    const { reader, writer } = pipe();
    run(`flood(${MANY}); process.exit(0);`, writer);
    const buffer = Buffer.alloc(65_536);
    const slowReader = setInterval(() => {
      printed += readNow(reader, buffer);
    }, 50);
    await exitCode();
    clearInterval(slowReader);
    printed += readNow(reader, buffer);
    expect(printed.trim().split('\n').length).to.equal(MANY);
  });

  it('shows no key, however a URL may write it', async () => {
    const key = `0123456789${'x'.repeat(22)}`;
    const paths = [`/svc_${key}`, `/svc%5F${key}/a`, `/svc%5f${key}`, `/svc_0%31${key.slice(2)}`];
    run(`for (const path of ${JSON.stringify(paths)}) log.info({ path, prefix: 'svc_0123' }, 'request');`, 'pipe');
    const lines = (await read()).trim().split('\n');
    expect(lines.map((line) => JSON.parse(line).path)).to.deep.equal([
      '/svc_[cut]',
      '/svc_[cut]/a',
      '/svc_[cut]',
      '/svc_[cut]',
    ]);
    expect(lines[0]).to.include('"prefix":"svc_0123"');
  });

  it('has the error that ended the process as its last line', async () => {
    run(`flood(${MANY}); ${BUG}`, 'pipe');
    const [log, code] = await Promise.all([read(), exitCode()]);
    expect(code).to.equal(1);
    expect(JSON.parse(log.trim().split('\n').at(-1) ?? '')).to.deep.include({
      level: 60,
      msg: 'the process ends because of an unhandled error',
    });
  });

  for (const [what, descriptor] of [
    ['its disk is full', () => open('/dev/full', constants.O_WRONLY)],
    ['nobody reads its pipe', () => pipe().writer],
  ] as const) {
    it(`does not hold or end the process while ${what}`, async () => {
      run(`flood(${FLOOD}); ${END}`, descriptor());
      expect(await exitCode()).to.equal(0);
      expect(printed).to.equal('alive\n');
    });

    it(`does not change the end of a process by an error while ${what}`, async () => {
      run(`flood(${FLOOD}); ${BUG}`, descriptor());
      expect(await exitCode()).to.equal(1);
    });
  }

  it('does not hold or end the process after the reader of its pipe has ended', async () => {
    run(`await next(); flood(${FLOOD}); ${END}`, 'pipe');
    child.stderr?.destroy();
    await once(child.stderr as NodeJS.ReadableStream, 'close');
    child.stdin?.write('go');
    expect(await exitCode()).to.equal(0);
    expect(printed).to.equal('alive\n');
  });

  it('continues when its pipe is read again, and says how many lines are lost', async () => {
    const { reader, writer } = pipe();
    run(`flood(${FLOOD}); console.log('flooded'); await next(); process.exit(0);`, writer);
    await until(() => printed !== '');
    const buffer = Buffer.alloc(65_536);
    let log = '';
    const lostLine = () => log.split('\n').find((line) => line.includes('log lines lost') && line.endsWith('}'));
    await until(() => {
      log += readNow(reader, buffer);
      return lostLine() !== undefined;
    });
    const { lines } = JSON.parse(lostLine() ?? '');
    const written = log.trim().split('\n').length - 1;
    expect(lines).to.be.greaterThan(0);
    expect(written + lines).to.equal(FLOOD);
    child.stdin?.write('end');
    expect(await exitCode()).to.equal(0);
  });
});

/** What waits in a pipe; empty if nothing does. */
function readNow(descriptor: number, buffer: Buffer): string {
  try {
    return buffer.toString('utf8', 0, readSync(descriptor, buffer));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return '';
    throw error;
  }
}
