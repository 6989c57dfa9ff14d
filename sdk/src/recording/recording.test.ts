import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import type { Frame } from '../device/frame.js';
import { RecordingError } from './manifest.js';
import { type CsvDescription, readCsv } from './plain-csv.js';
import { readRecording } from './recording.js';

const CHANNEL = { modality: 'ppg', sample_rate_hz: 100, bit_depth: 16, num_channels: 1 };

function manifest(changes: object = {}) {
  const device_model = {
    name: 'Band',
    modality_channels: [CHANNEL, { ...CHANNEL, modality: 'accel', sample_rate_hz: 50, num_channels: 2 }],
  };
  const streams = [
    { channel: 0, file: 'ppg.csv', columns: ['p'] },
    { channel: 1, file: 'accel.csv', columns: ['x', 'y'] },
  ];
  return { id: 'walk-01', device_model, streams, ...changes };
}

async function collect<T>(items: AsyncIterable<T> | Iterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

describe('recording', () => {
  let folder = '';
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'recording-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  async function write(name: string, text: string): Promise<string> {
    await writeFile(join(folder, name), text);
    return join(folder, name);
  }

  /** The frames of one channel at 100 Hz whose CSV is `csv`. */
  async function framesOf(csv: string): Promise<Frame[]> {
    await write('ppg.csv', csv);
    const path = await write(
      'r.json',
      JSON.stringify(manifest({ streams: [{ channel: 0, file: 'ppg.csv', columns: ['p'] }] })),
    );
    return collect((await readRecording(path)).frames());
  }

  async function refusal(promise: Promise<unknown>): Promise<string> {
    const error = await promise.then(
      () => null,
      (caught: unknown) => caught,
    );
    expect(error).to.be.instanceOf(RecordingError);
    return error instanceof Error ? error.message : '';
  }

  it('gives the device model and frames of at most 200 ms with their numbers and stamps', async () => {
    const rows = Array.from({ length: 50 }, (_, i) => `${i / 100},${i}`);
    const frames = await framesOf(['t,p', ...rows, ''].join('\n'));
    expect(frames.map(({ seq, ts, samples }) => [seq, ts, samples.length])).to.deep.equal([
      [0, 0, 20],
      [20, 200, 20],
      [40, 400, 10],
    ]);
    expect(frames.flatMap((frame) => [...frame.samples])).to.deep.equal(Array.from({ length: 50 }, (_, i) => i));
    expect((await readRecording(join(folder, 'r.json'))).deviceModel.modality_channels[0]).to.deep.equal(CHANNEL);
  });

  it('gives rows one by one if stamps jitter, repeat or jump, so that every stamp is kept', async () => {
    const frames = await framesOf('t,p\n-0.01,1\n0,2\n0.013,3\n0.013,4\n0.023,5\n2,6\n');
    expect(frames.map(({ seq, ts, samples }) => [seq, ts, ...samples])).to.deep.equal([
      [0, -10, 1],
      [1, 0, 2],
      [2, 13, 3],
      [3, 13, 4],
      [4, 23, 5],
      [5, 2000, 6],
    ]);
  });

  it('gives a frame when its last instant is complete', async () => {
    expect((await framesOf('t,p\n0,1\n0.01,2\n0.02,3\n')).map((frame) => frame.at)).to.deep.equal([20]);
  });

  it('reads blank cells and NaN as missing, and lines that end with CRLF', async () => {
    const [frame] = await framesOf('t,p\r\n0,1\r\n0.01,\r\n0.02,NaN\r\n0.03,-4.5e-3\r\n');
    expect([...(frame?.samples ?? [])]).to.deep.equal([1, Number.NaN, Number.NaN, -0.0045]);
  });

  it('merges channels in order of time, sub-channels interleaved in the order of the manifest', async () => {
    await write('ppg.csv', ['t,p', ...Array.from({ length: 60 }, (_, i) => `${i / 100},${i}`)].join('\n'));
    await write(
      'accel.csv',
      ['y,t,note,x', ...Array.from({ length: 30 }, (_, i) => `${-i},${i / 50},n,${i}`)].join('\n'),
    );
    const recording = await readRecording(await write('r.json', `\uFEFF${JSON.stringify(manifest())}`)); // with a byte order mark
    const frames = await collect(recording.frames());
    expect(frames.map(({ channel, at }) => [channel, at])).to.deep.equal([
      [1, 180],
      [0, 190],
      [1, 380],
      [0, 390],
      [1, 580],
      [0, 590],
    ]);
    expect([...(frames[0]?.samples.subarray(0, 4) ?? [])]).to.deep.equal([0, 0, 1, -1]);
    expect(await collect(recording.frames())).to.deep.equal(frames);
  });

  it('names file, line and remedy of a malformed CSV', async () => {
    expect(await refusal(framesOf('t,p\n0,1\n0.01,one\n'))).to.match(
      /ppg\.csv:3: "one" is not a number; leave the cell of a missing value blank/,
    );
    expect(await refusal(framesOf('t,p\n0,1\n0.01\n'))).to.match(/ppg\.csv:3: column 2 is missing/);
    expect(await refusal(framesOf('t,p\n,1\n'))).to.match(/ppg\.csv:2: the time stamp \(column t\) is missing/);
    expect(await refusal(framesOf('t,q\n0,1\n'))).to.match(/ppg\.csv:1: there is no column "p"/);
    expect(await refusal(framesOf(''))).to.match(/ppg\.csv: is empty/);
    expect(await refusal(framesOf('t,p\n0,inf\n'))).to.match(/ppg\.csv:2: "inf" is not a number/);
    expect(await refusal(framesOf('t,p\n0,1\n0.01,1e39\n'))).to.match(/ppg\.csv:3: 1e39 is too large for a float32/);
    expect(await refusal(framesOf('t,p,p\n0,1,2\n'))).to.match(/ppg\.csv:1: there are two columns "p"/);
    expect(await refusal(framesOf('t,p\n0,1\nt,p\n0.01,2\n'))).to.match(/ppg\.csv:3: the header is repeated/);
    expect(await refusal(framesOf('t,p\n2026-11-26T07:00:00Z,1\n'))).to.match(
      /ppg\.csv:2: "2026-11-26T07:00:00Z" is not a number of seconds/,
    );
  });

  it('refuses decimal commas and other separators instead of reading part of the numbers', async () => {
    expect(await refusal(framesOf('t,p\n0,1\n0,01,2\n'))).to.match(/ppg\.csv:3: the row has 3 cells.*with a point/);
    for (const separator of [';', '\t'])
      expect(await refusal(framesOf(`t${separator}p\n0${separator}1\n`))).to.match(
        /ppg\.csv:1: there is no column "t".*must be separated by commas/,
      );
  });

  it('refuses other line ends and encodings', async () => {
    expect(await refusal(framesOf('t,p\r0,1\r0.01,2\r'))).to.match(/ppg\.csv:1: .*lines must end with LF or CRLF/);
    const wide = Buffer.from('t,p\n0,1\n', 'utf16le').toString('latin1');
    expect(await refusal(framesOf(wide))).to.match(/ppg\.csv:1: .*the encoding must be UTF-8/);
  });

  it('reads cells in quotes, a byte order mark and trailing commas', async () => {
    const [frame] = await framesOf('\uFEFF"t","p"\n"0","1"\n0.01,2,\n');
    expect([...(frame?.samples ?? [])]).to.deep.equal([1, 2]);
  });

  it('refuses a line after 2^20 characters', async () => {
    const [short, long] = ['1'.repeat(2 ** 21), '1,'.repeat(2 ** 21)];
    expect(await refusal(framesOf(short))).to.match(/ppg\.csv:1: the line is longer than 1048576 characters/);
    expect(await refusal(framesOf(`t,p\n0,1\n${long}`))).to.match(/ppg\.csv:3: the line is longer than/);
  });

  it('sends rows that share a stamp as one frame', async () => {
    const rows = Array.from({ length: 100 }, (_, i) => `${Math.floor(i / 30) * 0.3},${i}`);
    const frames = await framesOf(`t,p\n${rows.join('\n')}\n`);
    expect(frames.map(({ seq, ts, samples, at, row }) => [seq, ts, samples.length, at, row])).to.deep.equal([
      [0, 0, 30, 290, 2],
      [30, 300, 30, 590, 32],
      [60, 600, 30, 890, 62],
      [90, 900, 10, 990, 92],
    ]);
  });

  it('sends rows that arrive at once, and are stamped then, as one frame', async () => {
    const rows = Array.from({ length: 90 }, (_, i) => `${Math.floor(i / 30) * 0.3 + (i % 30) / 1000},${i}`);
    const frames = await framesOf(`t,p\n${rows.join('\n')}\n`);
    expect(frames.map(({ seq, ts, samples }) => [seq, ts, samples.length])).to.deep.equal([
      [0, 0, 30],
      [30, 300, 30],
      [60, 600, 30],
    ]);
  });

  it('keeps the stamps of rows that are faster than the sample rate', async () => {
    const rows = Array.from({ length: 60 }, (_, i) => `${i / 500},${i}`);
    const frames = await framesOf(`t,p\n${rows.join('\n')}\n5,0\n`);
    expect(frames.slice(0, 3).map(({ ts, samples }) => [ts, samples.length])).to.deep.equal([
      [0, 1],
      [2, 1],
      [4, 1],
    ]);
  });

  it('refuses a column t that does not advance, or is in minutes or hours', async () => {
    for (const [seconds, advance] of [
      [Number.POSITIVE_INFINITY, 0],
      [60, 1],
      [3600, 0.0167],
    ] as const) {
      const rows = Array.from({ length: 7000 }, (_, i) => `${5 + i / 100 / seconds},${i}`);
      expect(await refusal(framesOf(`t,p\n${rows.join('\n')}\n`))).to.contain(
        `ppg.csv:2: the column t advances by ${advance} s in more than a minute of rows; each row needs its time in seconds`,
      );
    }
  });

  it('refuses rows in reverse order, wherever they begin', async () => {
    const ahead = Array.from({ length: 50 }, (_, i) => `${i / 100},${i}`);
    const back = Array.from({ length: 50 }, (_, i) => `${(1000 - i) / 100},${i}`);
    expect(await refusal(framesOf(`t,p\n${back.join('\n')}\n`))).to.match(
      /ppg\.csv:3: the column t goes back from row to row: sort/,
    );
    expect(await refusal(framesOf(`t,p\n${[...ahead, ...back].join('\n')}\n`))).to.match(/ppg\.csv:53: /);
    expect(await refusal(framesOf('t,p\n0.02,1\n0.01,2\n0,3\n'))).to.match(/ppg\.csv: the column t goes back/);
    const blocks = Array.from({ length: 80 }, (_, i) => `${((i >> 3) * 8 + 7 - (i % 8)) / 100},${i}`);
    expect(await refusal(framesOf(`t,p\n${blocks.join('\n')}\n`))).to.match(/goes back from row to row/);
  });

  it('continues in arrival time where t goes back, and keeps the stamps', async () => {
    const rows = Array.from({ length: 300 }, (_, i) => `${(i % 150) / 100 + (i < 150 ? 100 : 0)},${i}`);
    const frames = await framesOf(`t,p\n${rows.join('\n')}\n`);
    const first = frames.find(({ ts }) => ts === 0);
    expect([first?.seq, first?.at, first?.row]).to.deep.equal([150, 101_490, 152]);
    expect(frames.at(-1)?.at).to.be.closeTo(102_990, 200);
  });

  it('reports stamps in milliseconds', async () => {
    const rows = (step: number, count: number) =>
      ['t,p', ...Array.from({ length: count }, (_, n) => `${(n * step).toFixed(3)},${n}`)].join('\n');
    for (const count of [3, 10, 500])
      expect(await refusal(framesOf(rows(10, count)))).to.match(
        /ppg\.csv: the column t is in milliseconds; it must be in sec/,
      );
    const frames = await framesOf(rows(0.01, 500));
    expect(frames.reduce((sum, { samples }) => sum + samples.length, 0)).to.equal(500);
    expect(await framesOf('t,p\n0,1\n10,2\n10.01,3\n')).to.have.length(2);
  });

  it('reports stamps in milliseconds that rows share, and stamps in other units', async () => {
    const packets = Array.from({ length: 1000 }, (_, i) => `${Math.floor(i / 50) * 500},${i}`);
    expect(await refusal(framesOf(`t,p\n${packets.join('\n')}\n`))).to.match(/the column t is in milliseconds/);
    const micros = Array.from({ length: 20 }, (_, i) => `${i * 10_000},${i}`);
    expect(await refusal(framesOf(`t,p\n${micros.join('\n')}\n`))).to.match(/1000000 times as fast as sample_rate_hz/);
  });

  describe('of a plain CSV', () => {
    async function framesOfCsv(csv: string, changes: Partial<CsvDescription> = {}): Promise<Frame[]> {
      const channels = [{ modality: 'ppg_green' }];
      const recording = await readCsv(await write('my walk.csv', csv), { sampleRateHz: 100, channels, ...changes });
      expect(recording.id).to.equal('my-walk');
      return collect(recording.frames());
    }

    it('counts the rows where no column has their time', async () => {
      const [frame] = await framesOfCsv('note,ppg_green\na,5\nb,6\n');
      expect([frame?.ts, frame?.at, ...(frame?.samples ?? [])]).to.deep.equal([0, 10, 5, 6]);
    });

    it('reads the time from a column, in its unit', async () => {
      const timeColumn = 'time';
      const [frame] = await framesOfCsv('time,v\n500,5\n510,6\n', { timeColumn, timeUnit: 'ms' });
      expect([frame?.ts, frame?.at, ...(frame?.samples ?? [])]).to.deep.equal([500, 510, 5, 6]);
      expect((await framesOfCsv('v,t\n5,1\n6,1.01\n')).map(({ ts }) => ts)).to.deep.equal([1000]);
    });

    it('reads several channels of several columns', async () => {
      const channels = [
        { modality: 'ppg_red', columns: ['r'] },
        { modality: 'accel', columns: ['x', 'y'] },
      ];
      const frames = await framesOfCsv('x,y,r\n1,2,3\n', { channels });
      expect(frames.map(({ channel, samples }) => [channel, ...samples])).to.deep.equal([
        [0, 3],
        [1, 1, 2],
      ]);
    });

    it('asks which column holds a modality', async () => {
      expect(await refusal(framesOfCsv('a,b\n1,2\n'))).to.match(/walk\.csv:1: which column holds ppg_green\?.*"a","b"/);
      expect(await refusal(framesOfCsv(''))).to.match(/walk\.csv: is empty/);
    });
  });

  it('keeps the SpO2 curve of the device', async () => {
    const device_model = { ...manifest().device_model, spo2_calibration: { a: 110.5, b: -32.8 } };
    const recording = await readRecording(await write('r.json', JSON.stringify(manifest({ device_model }))));
    expect(recording.deviceModel.spo2_calibration).to.deep.equal({ a: 110.5, b: -32.8 });
  });

  it('names the field of a malformed manifest', async () => {
    const refused = async (text: string) => refusal(readRecording(await write('r.json', text)));
    expect(await refused('{')).to.match(/r\.json: not JSON/);
    expect(await refused(JSON.stringify(manifest({ id: 'a b' })))).to.match(/id is "a b"; it must be 1 to 128 of/);
    for (const file of ['../x.csv', '/x.csv', 'a/../../x.csv', '..'])
      expect(await refused(JSON.stringify(manifest({ streams: [{ channel: 0, file, columns: ['p'] }] })))).to.match(
        /file is ".*"; it must be the name of a CSV file in the manifest's folder/,
      );
    expect(await refused(JSON.stringify(manifest({ streams: [] })))).to.match(/streams is empty/);
    expect(await refused(JSON.stringify(manifest({ streams: [{ channel: 7, file: 'x', columns: [] }] })))).to.match(
      /has channel 7/,
    );
    expect(await refused(JSON.stringify(manifest({ streams: [{ channel: 1, file: 'x', columns: ['x'] }] })))).to.match(
      /names 1 columns/,
    );
    const model = { name: 'n', modality_channels: [{ ...CHANNEL, sample_rate_hz: '100' }] };
    expect(await refused(JSON.stringify(manifest({ device_model: model })))).to.match(
      /modality_channels\[0\]: sample_rate_hz is "100"/,
    );
  });

  it('names a missing file', async () => {
    expect(await refusal(readRecording(join(folder, 'none.json')))).to.match(/none\.json: no such file/);
    expect(await refusal(readRecording(''))).to.match(/the path of a recording is empty/);
    const recording = await readRecording(await write('r.json', JSON.stringify(manifest())));
    expect(await refusal(collect(recording.frames()))).to.match(/\.csv: no such file/);
  });

  it('reads a recording of 15 MB whole, in order of time', async function () {
    const path = fileURLToPath(new URL('../../../../shared/recordings/mitdb-100.json', import.meta.url));
    if (!existsSync(path)) {
      console.log('      skipped: ../shared/recordings is not here');
      this.skip();
    }
    let [instants, last] = [0, -Infinity];
    for await (const frame of (await readRecording(path)).frames()) {
      expect(frame.at).to.be.at.least(last);
      expect(frame.seq).to.equal(instants);
      instants += frame.samples.length / 2;
      last = frame.at;
    }
    expect([instants, Math.round(last / 100)]).to.deep.equal([650_000, 18_056]);
  });
});
