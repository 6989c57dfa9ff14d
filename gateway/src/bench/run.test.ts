import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';

const RUN = fileURLToPath(new URL('./run.js', import.meta.url));

describe('the benchmarks of the gateway', () => {
  it('refuse an unknown name or option, and list the names', () => {
    for (const words of [['nope'], ['live', 'nope'], ['--nope']]) {
      const { status, stdout, stderr } = spawnSync(process.execPath, [RUN, ...words], { encoding: 'utf8' });
      expect([status, stdout], words.join(' ')).to.deep.equal([1, '']);
      expect(stderr).to.match(/nope.*; the names: live 1000, live 3000, most, flood, rest\n$/);
    }
  });
});
