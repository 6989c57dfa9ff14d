import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { run } from './running.js';
import { fileOf } from './server-process.js';

const { version } = JSON.parse(readFileSync(fileOf('package.json'), 'utf8')) as { version: string };
const PROGRAMS = [
  'gateway/dist/main.js',
  'fanout/dist/main.js',
  'dsp-wasm/lab/dist/accuracy.js',
  ...['admin', 'demo', 'analyze'].map((name) => `gateway/dist/cli/${name}.js`),
];

describe('--version', () => {
  for (const program of PROGRAMS)
    it(`prints the release and does nothing else: ${program}`, async () => {
      expect(await run(program, ['--version'])).to.deep.equal({ code: 0, stdout: `${version}\n`, stderr: '' });
    });
});
