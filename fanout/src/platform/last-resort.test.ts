import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { expect } from 'chai';

/** Starts a program that has the last line of defence. */
function start(program: string, stdout: 'pipe' | number): ChildProcess {
  const module = new URL('last-resort.js', import.meta.url);
  const log = `{
    error: (fields, text) => console.log('error', fields.err.code, text),
    fatal: (fields, text) => console.log('fatal', fields.err.message, text),
  }`;
  const text = `import { surviveConnections } from '${module}'; surviveConnections(${log}); ${program}`;
  return spawn(process.execPath, ['--input-type=module', '-e', text], { stdio: ['ignore', stdout, 'inherit'] });
}

/** Runs such a program; what it printed, and its exit code. */
async function run(program: string): Promise<{ code: number | null; lines: string[] }> {
  const child = start(program, 'pipe');
  let said = '';
  child.stdout?.on('data', (chunk) => {
    said += chunk;
  });
  const [code] = await once(child, 'close');
  return { code, lines: said.trim().split('\n') };
}

describe('the last line of defence', () => {
  it('keeps the process running after faults of connections', async () => {
    const { code, lines } = await run(`
      const fail = (code) => setImmediate(() => { throw Object.assign(new Error('x'), { code }); });
      for (let n = 0; n < 2; n++) fail(n % 2 ? 'ECONNRESET' : 'EPIPE');
      setTimeout(() => console.log('alive'), 50);`);
    expect(code).to.equal(0);
    expect(lines).to.deep.equal([
      'error EPIPE unhandled error of one connection; the other connections continue',
      'error ECONNRESET unhandled error of one connection; the other connections continue',
      'alive',
    ]);
  });

  it('keeps the process running if its output cannot be written', async () => {
    const full = openSync('/dev/full', 'w');
    const program = `let lines = 0; setInterval(() => (lines++ < 3 ? console.log('a line') : process.exit(5)))`;
    const child = start(program, full);
    closeSync(full);
    expect((await once(child, 'exit'))[0]).to.equal(5);
  });

  for (const [what, program] of [
    ['a fault of another kind', "setImmediate(() => { throw new TypeError('a bug'); })"],
    ['a rejection that nobody handled', "Promise.reject(new TypeError('a bug'))"],
  ] as const) {
    it(`ends the process with exit code 1 and the cause in the log after ${what}`, async () => {
      const { code, lines } = await run(`${program}; setTimeout(() => console.log('alive'), 1000);`);
      expect(code).to.equal(1);
      expect(lines).to.deep.equal(['fatal a bug the process ends because of an unhandled error']);
    });
  }
});
