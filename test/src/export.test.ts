import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { pythonProgram } from '@device-insights/gateway/test-python';
import { DeviceInsights } from '@device-insights/sdk';
import { insightsOfSession } from '@device-insights/sdk/parquet';
import { play, simulate } from '@device-insights/sdk/simulator';
import { expect } from 'chai';
import { KEY, Running, temporaryFolder } from './running.js';
import { fileOf } from './server-process.js';

const execute = promisify(execFile);

/** Reads a file of each format with pandas, asserts that the rows and types are equal, and prints the types. */
const COMPARE = `
import json, sys
import pandas as pd
table = pd.read_parquet(sys.argv[1])
with open(sys.argv[2]) as lines:
    expected = pd.DataFrame([json.loads(line) for line in lines], columns=table.columns)
for name in ("ts", "actual_start", "actual_end"):
    expected[name] = pd.to_datetime(expected[name], unit="ms", utc=True).astype("datetime64[ms, UTC]")
expected = expected.astype({name: "float64" for name in ("value", "confidence", "coverage", "e2e_latency_ms")})
pd.testing.assert_frame_equal(table, expected)
print(len(table), *(f"{name}:{kind}" for name, kind in table.dtypes.items()))
`;

describe('the export of a session', function () {
  this.timeout(300_000); // The first run installs pandas.
  const folder = temporaryFolder();
  let service: Running;
  let client: DeviceInsights;

  before(async () => {
    service = await Running.start({ DATA_DIR: join(folder.path, 'data') });
    client = new DeviceInsights({ baseUrl: service.url, apiKey: KEY });
  });
  after(async () => {
    await service?.end('SIGKILL');
    folder.remove();
  });

  /** Streams simulated data as one session. */
  async function stream(seconds: number, startTime: number): Promise<void> {
    const source = simulate({ seconds });
    const { id } = await client.deviceModels.create(source.deviceModel);
    const device = client.device({ deviceId: 'band', deviceModelId: id });
    await play(source, device, { speed: Number.POSITIVE_INFINITY, startTime });
    await device.end();
  }

  async function exported(format: string, ...args: string[]): Promise<string> {
    const file = join(folder.path, format);
    const command = [fileOf('sdk/dist/cli/main.js'), 'export', ...args, '--format', format];
    const options = { encoding: 'buffer', maxBuffer: 2 ** 26 } as const;
    const { stdout } = await execute(process.execPath, [...command, '--url', service.url, '--key', KEY], options);
    writeFileSync(file, stdout);
    return file;
  }

  it('as Parquet is read by pandas, row by row and with the types of the JSON export', async () => {
    const start = Date.now() - 3_600_000;
    await stream(500, start);
    await stream(20, start + 200_000); // Overlaps the first session in data time.
    const { data } = await client.sessions.list();
    const python = await pythonProgram('pandas==3.1.1 pyarrow==26.0.1', 'python');
    for (const { id } of data) {
      const stored = await client.sessions.insights(id);
      const read = [];
      for await (const insight of insightsOfSession(client, id)) read.push(insight);
      expect(read).to.deep.equal(stored);
      const files = [await exported('parquet', '--session', id), await exported('json', '--session', id)];
      const { stdout } = await execute(python, ['-c', COMPARE, ...files]);
      expect(stdout.trim().split(' ')).to.deep.equal([
        `${stored.length}`,
        ...[
          'ts:datetime64[ms,',
          'UTC]',
          'type:str',
          'value:float64',
          'unit:str',
          'sqi_class:str',
          'confidence:float64',
        ],
        ...['coverage:float64', 'actual_start:datetime64[ms,', 'UTC]', 'actual_end:datetime64[ms,', 'UTC]'],
        ...['e2e_latency_ms:float64', 'device_id:str', 'session_id:str', 'algorithm:str'],
        ...['sdnn:float64', 'pnn50:float64'],
      ]);
    }
    expect((await client.sessions.insights(data[1]?.id ?? '')).length).to.be.greaterThan(1000); // More than a page.
  });
});
