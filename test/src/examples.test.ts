import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { decodeBinary } from '@device-insights/gateway/test-ingest/frame';
import { pythonProgram } from '@device-insights/gateway/test-python';
import { encodeFrame } from '@device-insights/sdk';
import { expect } from 'chai';
import { KEY, Running, temporaryFolder } from './running.js';
import { fileOf, registered } from './server-process.js';
import { connect } from './wearable.js';

const execute = promisify(execFile);

interface Vector {
  readonly channel: number;
  readonly encoding: 1 | 2 | 3 | 4;
  readonly seq: number;
  readonly ts: number | null;
  readonly samples: readonly (number | null)[];
  readonly hex: string;
}
const VECTORS = JSON.parse(readFileSync(fileOf('sdk/examples/frame-vectors.json'), 'utf8')) as readonly Vector[];
const CHANNEL = { ch_id: 'a', modality: 'ppg_green', sample_rate_hz: 100, bit_depth: 16, num_channels: 1 };

/** The samples of a payload; null is a missing value. */
function samplesOf(payload: Uint8Array, encoding: Vector['encoding']): (number | null)[] {
  const bytes = Buffer.from(payload);
  const width = [0, 2, 3, 4, 4][encoding] ?? 4;
  return Array.from({ length: bytes.length / width }, (_, i) => {
    const value = encoding === 4 ? bytes.readFloatLE(4 * i) : bytes.readIntLE(width * i, width);
    return Number.isNaN(value) ? null : value;
  });
}

describe('the examples without the SDK', function () {
  this.timeout(400_000); // The first run installs a package of PyPI.
  const folder = temporaryFolder();
  const program = join(folder.path, 'device');
  let service: Running;

  before(async () => {
    service = await Running.start({ DATA_DIR: join(folder.path, 'data') });
    const strict = ['-std=c99', '-pedantic', '-Wall', '-Wextra', '-Wconversion', '-Werror', '-O2'];
    await execute('cc', [...strict, '-o', program, fileOf('sdk/examples/device.c'), '-lm']);
  });
  after(async () => {
    await service.end('SIGKILL');
    folder.remove();
  });

  async function framesOf(...args: string[]): Promise<Buffer[]> {
    const { stdout } = await execute(program, args);
    return stdout.split('\n').map((line) => Buffer.from(line, 'hex'));
  }

  /** Start and end of what the session's heart rates were read from, ms. */
  async function heartRates(sessionId: string) {
    const { body } = await service.call<{ type: string; value: number; actual_end: number }[]>(
      'GET',
      `/v1/sessions/${sessionId}/insights`,
    );
    return body.filter(({ type }) => type === 'hr');
  }

  it('have test vectors that the gateway reads', () => {
    const channels = Array.from({ length: 256 }, () => CHANNEL);
    expect(VECTORS.map(({ encoding }) => encoding)).to.deep.equal([1, 2, 3, 4]);
    for (const { hex, samples, ...header } of VECTORS) {
      const frame = decodeBinary(Buffer.from(hex, 'hex'), channels);
      if ('fault' in frame) throw new Error(`${hex}: ${frame.detail}`);
      expect(frame).to.include({ ...header, instants: samples.length });
      expect(samplesOf(frame.payload, header.encoding)).to.deep.equal(samples);
    }
  });

  it('have test vectors that the SDK writes', () => {
    for (const { hex, channel, seq, ts, samples } of VECTORS) {
      const values = Float64Array.from(samples, (value) => value ?? Number.NaN);
      const bytes = encodeFrame({ channel, seq, ts: ts ?? Number.NaN, samples: values });
      expect(Buffer.from(bytes).toString('hex')).to.equal(hex);
    }
  });

  it('device.c writes the test vectors, and nothing for an impossible frame', async () => {
    const frames = (await framesOf('vectors')).map((frame) => frame.toString('hex'));
    expect(frames.slice(0, 4)).to.deep.equal(VECTORS.map(({ hex }) => hex));
    expect(frames.slice(4)).to.deep.equal(['', '', '', '']);
  });

  it('device.c writes frames from which the service reads the heart rate', async () => {
    const { body: model } = await service.call<{ id: string }>('POST', '/v1/device-models', {
      name: 'device.c',
      modality_channels: [{ modality: 'ppg_green', sample_rate_hz: 100, bit_depth: 16, num_channels: 1 }],
    });
    const { socket, ready } = await connect(service, 'c-1', model.id);
    for (const frame of await framesOf('pulse', String(Date.now() - 20_000))) if (frame.length > 0) socket.send(frame);
    socket.send({ type: 'end' });
    await socket.until(({ type }) => type === 'ended');
    const rates = await heartRates(ready.session_id);
    expect(rates.length).to.be.greaterThan(5);
    for (const { value } of rates) expect(value).to.be.within(69, 75);
  });

  it('device.py streams until the service has stored all data', async () => {
    const { stdout } = await execute(await pythonProgram('websockets==17.4', 'python'), [
      ...[fileOf('sdk/examples/device.py'), '--url', service.url, '--key', KEY],
      ...['--device', 'python-1', '--seconds', '20', '--at-once'],
    ]);
    expect(stdout).to.match(/^session [\w-]{36}\n(.*no_reading.*\n)?the session has ended\n$/);
    const rates = await heartRates(stdout.slice(8, 44));
    expect(rates.length).to.be.greaterThan(5);
    for (const { value } of rates) expect(value).to.be.within(69, 75);
  });

  it('device.py continues after the loss of the gateway, with the data that this had not received', async () => {
    const begun = Date.now();
    const python = registered(
      spawn(await pythonProgram('websockets==17.4', 'python'), [
        ...[fileOf('sdk/examples/device.py'), '--url', service.url, '--key', KEY],
        ...['--device', 'python-2', '--seconds', '14'],
      ]),
    );
    const errors = text(python.stderr);
    const lines = createInterface({ input: python.stdout })[Symbol.asyncIterator]();
    const session = String((await lines.next()).value).replace('session ', '');
    await service.end('SIGKILL');
    service = await Running.start({ DATA_DIR: join(folder.path, 'data'), PORT: new URL(service.url).port });
    const said: string[] = [];
    for await (const line of lines) said.push(line);
    expect([await errors, python.exitCode ?? (await once(python, 'exit'))[0]]).to.deep.equal(['', 0]);
    expect(said).to.include(`session ${session}`).and.include('the session has ended');
    const rates = await heartRates(session);
    expect(rates.at(-1)?.actual_end).to.be.greaterThan(begun + 12_000);
    for (const { value } of rates) expect(value).to.be.within(69, 75);
  });

  /** Runs Python beside device.py, with a Device `d` and a function push(number of a frame, shift of its stamp in s). */
  async function withDevice(id: string, ...lines: string[]): Promise<string> {
    const setup = [
      'import asyncio, sys, time, device',
      'url, key, id = sys.argv[1:]',
      'd = device.Device(url, key, id, device.create_model(url, key))',
      'begun, n = time.time() - 200, device.FRAME_INSTANTS',
      'def push(i, shift=0):',
      '    samples = [device.measure(i * n + j) for j in range(n)]',
      '    d.push(i * n, 1000 * (begun + i * n / device.RATE_HZ + shift), samples)',
    ];
    const run = ['d.ended = True', 'asyncio.run(asyncio.wait_for(d.run(), 120))'];
    const program = [...setup, ...lines, ...run].join('\n');
    const { stdout } = await execute(
      await pythonProgram('websockets==17.4', 'python'),
      ['-c', program, service.url, KEY, id],
      {
        env: { ...process.env, PYTHONPATH: fileOf('sdk/examples'), PYTHONDONTWRITEBYTECODE: '1' },
      },
    );
    return stdout;
  }

  it('device.py does not wait for the acknowledgement of frames that the service refused', async () => {
    const stdout = await withDevice('python-3', 'for i in range(400): push(i, 600 if 50 <= i < 250 else 0)');
    expect(stdout).to.include('error in_future');
    const rates = await heartRates(/session ([\w-]{36})/.exec(stdout)?.[1] ?? '');
    expect(rates.length).to.be.greaterThan(5);
  });

  it('device.py tells the service its clock, so that the times of readings are right', async () => {
    const slow = ['now = time.time', 'time.time = lambda: now() - 3600', 'begun -= 3600'];
    const stdout = await withDevice('python-5', ...slow, 'for i in range(100): push(i)');
    const rates = await heartRates(/session ([\w-]{36})/.exec(stdout)?.[1] ?? '');
    expect(rates.at(-1)?.actual_end).to.be.within(Date.now() - 600_000, Date.now());
  });

  it('device.py says what it drops, and streams the rest', async () => {
    const stdout = await withDevice('python-4', 'device.MOST_FRAMES = 600', 'for i in range(901): push(i)');
    const said = 'no room: dropped the oldest 60 s of data, not acknowledged';
    expect(stdout.split('\n').slice(0, 2)).to.deep.equal([said, said]);
    const rates = await heartRates(/session ([\w-]{36})/.exec(stdout)?.[1] ?? '');
    expect(rates.length).to.be.greaterThan(30);
    for (const { value } of rates) expect(value).to.be.within(69, 75);
  });

  it('say why the service refuses them', async () => {
    const failure = await execute(await pythonProgram('websockets==17.4', 'python'), [
      ...[fileOf('sdk/examples/device.py'), '--url', service.url, '--key', KEY],
      ...['--model', '00000000-0000-4000-8000-000000000000', '--seconds', '1'],
    ]).catch((error: { stderr: string }) => error.stderr);
    expect(failure).to.contain('4004');
  });
});
