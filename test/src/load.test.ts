import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { encodeFrame } from '@device-insights/sdk';
import { expect } from 'chai';
import { fileOf } from './server-process.js';

const FOLDER = fileOf('test/load');
const ENCODINGS = ['', 'int16', 'int24', 'int32', 'float32'];

interface Vector {
  readonly channel: number;
  readonly seq: number;
  readonly ts: number;
  readonly encoding: string;
  readonly samples: number[];
  readonly hex: string;
}

describe('the load generator', () => {
  const go = (...args: string[]) => spawnSync('go', args, { cwd: FOLDER, encoding: 'utf8' });
  const missing = () => go('version').error !== undefined && 'skipped: Go is not installed (apt-get install golang-go)';

  it('is tested on frames that the SDK encodes', () => {
    const vectors = JSON.parse(readFileSync(`${FOLDER}/testdata/frames.json`, 'utf8')) as Vector[];
    expect(new Set(vectors.map(({ encoding }) => encoding)).size).to.equal(4);
    for (const { channel, seq, ts, encoding, samples, hex } of vectors) {
      const bytes = encodeFrame({ channel, seq, ts, samples: Float64Array.from(samples) });
      expect({ encoding: ENCODINGS[bytes[2] ?? 0], hex: Buffer.from(bytes).toString('hex') }).to.deep.equal({
        encoding,
        hex,
      });
    }
  });

  it('passes its own tests, go vet and gofmt', function () {
    const reason = missing();
    if (reason) {
      console.log(`      ${reason}`);
      this.skip();
    }
    for (const args of [
      ['vet', '.'],
      ['test', '.'],
    ]) {
      const { status, stdout, stderr } = go(...args);
      expect(status, `${stdout}${stderr}`).to.equal(0);
    }
    expect(spawnSync('gofmt', ['-l', '.'], { cwd: FOLDER, encoding: 'utf8' }).stdout).to.equal('');
  });
});
