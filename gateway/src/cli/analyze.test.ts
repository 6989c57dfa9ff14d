import { execFile, spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { simulate } from '@device-insights/sdk/simulator';
import { expect } from 'chai';

const COMMAND = fileURLToPath(new URL('analyze.js', import.meta.url));

function analyze(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [COMMAND, ...args], (error, stdout, stderr) => {
      resolve({ code: error ? Number(error.code) : 0, stdout, stderr });
    });
  });
}

describe('analyze', () => {
  let folder = '';
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'analyze-'));
  });
  after(() => rm(folder, { recursive: true, maxRetries: 10 }));

  /** Writes red and infrared of the simulator as a recording. */
  async function record(seconds: number, spo2: number): Promise<string> {
    const simulator = simulate({ seconds, spo2 });
    const modality_channels = simulator.deviceModel.modality_channels.slice(1, 3);
    for (const [channel, { modality, sample_rate_hz }] of modality_channels.entries()) {
      const values = [...simulator.frames()]
        .filter((frame) => frame.channel === channel + 1)
        .flatMap((frame) => [...frame.samples]);
      await writeFile(
        join(folder, `${modality}.csv`),
        ['t,v', ...values.map((value, i) => `${i / sample_rate_hz},${value}`)].join('\n'),
      );
    }
    const streams = modality_channels.map(({ modality }, channel) => ({
      channel,
      file: `${modality}.csv`,
      columns: ['v'],
    }));
    const path = join(folder, 'r.json');
    await writeFile(path, JSON.stringify({ id: 'r', device_model: { name: 'r', modality_channels }, streams }));
    return path;
  }

  it('prints one insight a line, the same bytes on every run', async () => {
    const path = await record(12, 96);
    const { code, stdout, stderr } = await analyze(path);
    expect([code, stderr]).to.deep.equal([0, '']);
    const insights = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const r = (110 - 96) / 25; // the simulator's light, read on the curve of a device without one
    expect(insights.find(({ type }) => type === 'spo2')?.value).to.be.closeTo(112.69 - 34.66 * r + 1.596 * r * r, 1);
    expect((await analyze(path)).stdout).to.equal(stdout);
  });

  it('uses the curve of the device', async () => {
    const spo2 = async (...options: string[]) => {
      const lines = (await analyze(await record(12, 96), ...options)).stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line));
      return lines.find(({ type }) => type === 'spo2')?.value;
    };
    const r = (110 - 96) / 25;
    expect(await spo2('--spo2-curve', '100,-20,-5')).to.be.closeTo(100 - 20 * r - 5 * r * r, 1);
    expect(await spo2('--spo2-curve=110,-25')).to.be.closeTo(96, 1);
  });

  it('reports an error in one line, and exits with 1', async () => {
    const missing = await analyze(join(folder, 'none.json'));
    expect([missing.code, missing.stdout]).to.deep.equal([1, '']);
    expect(missing.stderr.trim())
      .to.match(/none\.json: no such file$/)
      .and.not.contain('\n');
    expect((await analyze('r.json', '--spo2-curve', '1')).stderr).to.contain('two or three numbers');
    expect((await analyze()).code).to.equal(1);
  });

  it('says that its output could not be written, with exit code 1', async () => {
    const words = ['-c', 'exec "$0" "$1" "$2" > /dev/full', process.execPath, COMMAND, await record(12, 96)];
    const { status, stderr } = spawnSync('sh', words, { encoding: 'utf8' });
    expect([status, stderr]).to.deep.equal([
      1,
      'the output could not be written: ENOSPC: no space left on device, write\n',
    ]);
  });
});
