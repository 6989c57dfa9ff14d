import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { decodeBinary } from '@device-insights/gateway/test-ingest/frame';
import { encodeFrame } from '@device-insights/sdk';
import { expect } from 'chai';
import { Running, temporaryFolder } from './running.js';
import { fileOf } from './server-process.js';
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

describe('the examples without the SDK', () => {
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
    const { body } = await service.call<{ type: string; value: number }[]>(
      'GET',
      `/v1/sessions/${ready.session_id}/insights`,
    );
    const rates = body.filter(({ type }) => type === 'hr');
    expect(rates.length).to.be.greaterThan(5);
    for (const { value } of rates) expect(value).to.be.within(69, 75);
  });
});
