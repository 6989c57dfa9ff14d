import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { simulate } from '@device-insights/sdk/simulator';
import { expect } from 'chai';

const COMMAND = fileURLToPath(new URL('demo.js', import.meta.url));
const READING =
  /^\d{4}-\d\d-\d\dT[\d:.]+Z {2}(\S+) {2}(hr|spo2|rr) +([\d.]+) (bpm|%|brpm) +([01]\.\d{3}) {2}(excellent|acceptable|unfit)( \(estimating\))?$/;

describe('demo', () => {
  let folder = '';
  let demo: ChildProcess;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'demo-test-'));
  });
  afterEach(async () => {
    demo.kill('SIGKILL');
    await rm(folder, { recursive: true, maxRetries: 10 });
  });

  /** Starts the demo with `folder` as the place of temporary files. */
  function start(...args: string[]): { demo: ChildProcess; output: () => string; ended: Promise<unknown> } {
    const { PORT: _, DATA_DIR: __, ...env } = process.env;
    demo = spawn(process.execPath, [COMMAND, ...args], { env: { ...env, TMPDIR: folder } });
    let text = '';
    for (const stream of [demo.stdout, demo.stderr]) stream?.on('data', (chunk: Buffer) => (text += chunk));
    return { demo, output: () => text, ended: once(demo, 'close').then(([code]) => code) };
  }

  function readings(output: string): string[][] {
    return output
      .split('\n')
      .flatMap((line) => [...line.matchAll(new RegExp(READING, 'g'))].map((match) => match.slice(1)));
  }

  it('prints the insights of the simulator that a subscriber receives, stops by itself and leaves no files', async () => {
    const { output, ended } = start('--seconds', '2', '--speed', '10', '--spo2', '94');
    expect(await ended, output()).to.equal(0);
    expect(output()).to.contain('true values: hr 72 bpm, spo2 94 %, rr 15 brpm');
    const spo2 = readings(output()).filter(([, type]) => type === 'spo2');
    expect(spo2.length, output()).to.be.within(10, 18);
    for (const [device, , value, unit] of spo2) {
      expect([device, unit]).to.deep.equal(['simulator-1', '%']);
      expect(Number(value)).to.be.closeTo(94, 1.5);
    }
    expect(output()).to.contain(`${readings(output()).length} insights received`);
    expect(await readdir(folder)).to.deep.equal([]);
  });

  it('ends without a failure and leaves no files if the reader of its output closes it (`| head`)', async () => {
    const { output, ended } = start('--speed', '10');
    await once(demo.stdout ?? demo, 'data');
    demo.stdout?.destroy();
    expect(await ended, output()).to.equal(0);
    expect(output()).not.to.contain('EPIPE');
    expect(await readdir(folder)).to.deep.equal([]);
  });

  it('says that its output could not be written, and leaves no files', async () => {
    const options = { env: { ...process.env, DATA_DIR: '', PORT: '', TMPDIR: folder }, encoding: 'utf8' } as const;
    const { status, stderr } = spawnSync(
      'sh',
      ['-c', 'exec "$0" "$1" > /dev/full', process.execPath, COMMAND],
      options,
    );
    expect([status, stderr]).to.deep.equal([
      1,
      'the output could not be written: ENOSPC: no space left on device, write\n',
    ]);
    expect(await readdir(folder)).to.deep.equal([]);
  });

  it('streams a recording to its end', async () => {
    const simulator = simulate({ seconds: 10, hr: 66 });
    const values = [...simulator.frames()]
      .filter((frame) => frame.channel === 0)
      .flatMap((frame) => [...frame.samples]);
    await writeFile(join(folder, 'r.csv'), ['t,green', ...values.map((value, i) => `${i / 100},${value}`)].join('\n'));
    const device_model = { name: 'r', modality_channels: simulator.deviceModel.modality_channels.slice(0, 1) };
    const streams = [{ channel: 0, file: 'r.csv', columns: ['green'] }];
    await writeFile(join(folder, 'r.json'), JSON.stringify({ id: 'walk-1', device_model, streams, duration_s: 10 }));
    const { output, ended } = start('--recording', join(folder, 'r.json'), '--speed', '10');
    expect(await ended, output()).to.equal(0);
    expect(readings(output()).map(([device, type]) => `${device} ${type}`)).to.deep.equal(Array(7).fill('walk-1 hr'));
  });

  it('ends its session and stops at Ctrl-C', async () => {
    const { output, ended } = start('--speed', '10');
    while (readings(output()).length === 0) await once(demo.stdout ?? demo, 'data');
    demo.kill('SIGINT');
    expect(await ended, output()).to.equal(0);
    expect(output()).to.match(/ended +\d+ frames sent/);
    expect(await readdir(folder)).to.deep.equal([]);
  });

  it('reports an error in one line, and exits with 1', async () => {
    const { output, ended } = start('--recording', join(folder, 'none.json'));
    expect(await ended).to.equal(1);
    expect(output().trim())
      .to.match(/none\.json: no such file$/)
      .and.not.contain('\n');
  });

  it('refuses invalid options', async () => {
    expect(await start('--speed', '0').ended).to.equal(1);
    const { output, ended } = start('--fault', 'quake@1-2');
    expect(await ended).to.equal(1);
    expect(output()).to.match(/"quake@1-2" is not a fault; the faults are dropped=SHARE/);
    expect(await readdir(folder)).to.deep.equal([]);
  });
});
