import { execFile, spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
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

  /** Writes a green light as a CSV, with a manifest of the same name; `stamp` gives the time of each row, seconds. */
  async function recordLight(seconds: number, stamp: (i: number) => number): Promise<string> {
    const light = simulate({ seconds, hr: 66 });
    const channel = light.deviceModel.modality_channels[0];
    const values = [...light.frames()].filter((frame) => frame.channel === 0).flatMap((frame) => [...frame.samples]);
    const rows = values.map((value, i) => `${stamp(i).toFixed(6)},${value}`);
    await writeFile(join(folder, 'light.csv'), `t,v\n${rows.join('\n')}\n`);
    const device_model = { name: 'r', modality_channels: [channel] };
    const streams = [{ channel: 0, file: 'light.csv', columns: ['v'] }];
    await writeFile(join(folder, 'light.json'), JSON.stringify({ id: 'r', device_model, streams }));
    return join(folder, 'light.json');
  }

  /** The first SpO2 that was printed. */
  function spo2In(stdout: string): number {
    const insights = stdout.split('\n').map((line) => JSON.parse(line || '{}'));
    return insights.find(({ type }) => type === 'spo2')?.value;
  }

  it('prints one insight a line, the same bytes on every run', async () => {
    const path = await record(24, 96);
    const { code, stdout, stderr } = await analyze(path);
    expect([code, stderr]).to.deep.equal([0, '']);
    const r = (110 - 96) / 25; // the simulator's light, read on the curve of a device without one
    expect(spo2In(stdout)).to.be.closeTo(112.69 - 34.66 * r + 1.596 * r * r, 1);
    expect((await analyze(path)).stdout).to.equal(stdout);
  });

  it('uses the curve of the device', async () => {
    const spo2 = async (...options: string[]) => spo2In((await analyze(await record(12, 96), ...options)).stdout);
    const r = (110 - 96) / 25;
    expect(await spo2('--spo2-curve', '100,-20,-5')).to.be.closeTo(100 - 20 * r - 5 * r * r, 1);
    expect(await spo2('--spo2-curve=110,-25')).to.be.closeTo(96, 1);
  });

  it('continues where a counter wraps, and reports the row and time', async () => {
    const wrap = 2 ** 24 / 1e6;
    const path = await recordLight(40, (i) => (i / 100 + 10) % wrap);
    const { code, stdout, stderr } = await analyze(path, '--json');
    const { insights, notices, no_reading } = JSON.parse(stdout);
    expect([code, no_reading]).to.deep.equal([0, []]);
    expect(notices.map(({ code, channel, row }: Record<string, unknown>) => [code, channel, row])).to.deep.equal([
      ['ts_back', 0, 680],
    ]);
    expect(stderr).to.match(/^ts_back \(channel 0, row 680, t = 0\.\d+ s\): ts goes back by 16\.\d s.*\n$/);
    const last = insights.filter(({ type }: { type: string }) => type === 'hr').at(-1);
    expect(last.value).to.be.closeTo(66, 1.5);
    expect(last.actual_end).to.equal(50_000);
  });

  it('fits rows that share a stamp to the sample rate', async () => {
    const path = await recordLight(40, (i) => Math.floor(i / 73) * 0.73);
    const { code, stdout, stderr } = await analyze(path, '--json');
    expect([code, stderr]).to.deep.equal([0, '']);
    const rates = JSON.parse(stdout).insights.filter(({ type }: { type: string }) => type === 'hr');
    expect(rates.length).to.be.above(30);
    for (const { value, confidence } of rates) {
      expect(value).to.be.closeTo(66, 1.5);
      expect(confidence).to.be.at.least(0.5);
    }
  });

  it('reports what the service would tell the device', async () => {
    const path = await recordLight(40, (i) => i / 80);
    const { code, stderr } = await analyze(path);
    expect(code).to.equal(0);
    expect(stderr).to.match(/^rate_off \(channel 0, row \d+, t = \d+\.?\d* s\): the data arrive at .*\n$/);
  });

  it('exits with 3 if a type has no reading, or stops before the end of the data', async () => {
    const short = await analyze(await record(12, 96));
    expect(short.code).to.equal(3);
    expect(short.stderr).to.match(/^no_reading \(rr, .*\): no trusted rr: .*\nrr: the recording has no reading\n$/);
    const ended = await analyze(await recordLight(40, (i) => (i < 2000 ? i : i + 100_000) / 100));
    expect(ended.code).to.equal(0);
    const path = await recordLight(60, (i) => i / 100);
    const rows = (await readFile(join(folder, 'light.csv'), 'utf8')).split('\n');
    await writeFile(
      join(folder, 'light.csv'),
      rows.map((row, i) => (i < 3000 ? row : row.replace(/,.*/, ','))).join('\n'),
    );
    const stopped = await analyze(path);
    expect(stopped.code).to.equal(3);
    expect(stopped.stderr).to.match(/^hr: no reading after 3\d s, but the data end at 60\.0 s$/m);
  });

  it('exits with 3 if no algorithm uses the channels', async () => {
    await writeFile(join(folder, 'eeg.csv'), 't,v\n0,1\n0.01,2\n');
    const { code, stderr } = await analyze(join(folder, 'eeg.csv'), '--rate', '100', '--modality', 'eeg');
    expect([code, /^not_analysed: /m.test(stderr)]).to.deep.equal([3, true]);
  });

  it('reads a CSV without a manifest, and prints CSV', async () => {
    const columns = ['--rate', '100', '--modality', 'ppg_green=v'];
    await recordLight(24, (i) => i / 100);
    const { code, stdout } = await analyze(join(folder, 'light.csv'), ...columns, '--time-column', 't', '--csv');
    const [header, first] = stdout.split('\r\n');
    expect(code).to.equal(0);
    expect(header).to.match(/^ts,type,value,unit,/);
    expect(first).to.match(/^4000,hr,6\d(\.\d)?,bpm,/);
    const alone = await analyze(join(folder, 'light.csv'));
    expect([alone.code, alone.stderr]).to.deep.equal([
      2,
      `${join(folder, 'light.csv')}: a CSV without a manifest needs --rate and --modality\n`,
    ]);
  });

  it('says that light has no R peaks', async () => {
    const { code, stdout, stderr } = await analyze(await recordLight(12, (i) => i / 100), '--peaks');
    expect([code, stdout]).to.deep.equal([2, '']);
    expect(stderr).to.contain('the recording has only the channels 0 (ppg_green)');
  });

  it('reports a recording that it cannot use in one line, and exits with 2', async () => {
    const path = await recordLight(12, (i) => 12 - i / 100);
    const { code, stderr } = await analyze(path);
    expect(code).to.equal(2);
    expect(stderr).to.match(
      /light\.csv:3: the column t goes back from row to row: sort the rows by it, oldest first\n$/,
    );
    const missing = await analyze(join(folder, 'none.json'));
    expect([missing.code, missing.stdout]).to.deep.equal([2, '']);
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
