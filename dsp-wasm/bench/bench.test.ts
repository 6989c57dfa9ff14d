import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';

const BENCH = fileURLToPath(new URL('./bench.js', import.meta.url));

describe('the benchmark of the signal core', () => {
  it('refuses a name or an unknown option without a stack', () => {
    for (const word of ['nope', '--nope']) {
      const { status, stdout, stderr } = spawnSync(process.execPath, [BENCH, word], { encoding: 'utf8' });
      expect([status, stdout], word).to.deep.equal([1, '']);
      expect(stderr)
        .to.match(/nope.*\nusage: \[--json\]\n$/)
        .and.not.contain('    at ');
    }
  });
});
