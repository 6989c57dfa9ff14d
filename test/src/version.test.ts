import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { run } from './running.js';
import { fileOf } from './server-process.js';

const { version } = JSON.parse(readFileSync(fileOf('package.json'), 'utf8')) as { version: string };
/** Outside a checkout the commit is not known. */
const COMMIT = ' \\(commit (?:[0-9a-f]{12}\\+?|unpackaged)';
const PROGRAMS = [
  ['gateway/dist/package/start.js', `${COMMIT}, schema \\d+\\)`],
  ['gateway/dist/package/fanout.js', `${COMMIT}\\)`],
  ['dsp-wasm/lab/dist/accuracy.js', ''],
  ['gateway/dist/package/admin.js', ''],
  ...['demo', 'analyze'].map((name) => [`gateway/dist/cli/${name}.js`, ''] as const),
] as const;

describe('--version', () => {
  for (const [program, more] of PROGRAMS)
    it(`prints the release and does nothing else: ${program}`, async () => {
      const { code, stdout, stderr } = await run(program, ['--version']);
      expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
      expect(stdout).to.match(new RegExp(`^${version}${more}\n$`));
    });
});
