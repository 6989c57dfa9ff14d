import { expect } from 'chai';
import { run } from './running.js';

describe('the demo', () => {
  it('prints live readings, one a line, and stops by itself', async () => {
    const { code, stdout, stderr } = await run('gateway/dist/cli/demo.js', ['--seconds', '3', '--speed', '8']);
    expect(stderr).to.equal('');
    expect(code).to.equal(0);
    const readings = stdout.split('\n').filter((line) => /\bbpm\b/.test(line) && /simulator/.test(line));
    expect(readings.length).to.be.greaterThan(10);
    expect(readings.at(-1)).to.match(/hr\s.*\d+\.\d bpm.*(excellent|acceptable)/);
  });
});
