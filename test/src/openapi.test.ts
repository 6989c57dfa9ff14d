import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { pythonProgram } from '@device-insights/gateway/test-python';
import { simulate } from '@device-insights/sdk/simulator';
import { expect } from 'chai';
import { npmProgram } from './npm-program.js';
import { KEY, Running, temporaryFolder } from './running.js';
import { fileOf } from './server-process.js';
import { connect, makeModel, sendFrames } from './wearable.js';

const execute = promisify(execFile);
const DOCUMENT = fileOf('gateway/openapi.json');
/** The compiler of this repository's packages, which is several times as fast as version 6. */
const TSC = fileOf('node_modules/typescript-7/bin/tsc');
const PYTHON_GENERATOR = 'openapi-python-client==0.29.1';

/** A journey through REST with the generated client: each line prints what it found. */
const JOURNEY = `
import sys
from datetime import datetime, timedelta, timezone
from insights_client import AuthenticatedClient
from insights_client.api.algos import list_algorithms
from insights_client.api.device_models import create_device_model, delete_device_model, get_device_model, update_device_model
from insights_client.api.insights import list_insights
from insights_client.api.modalities import create_modality, list_modalities
from insights_client.api.sessions import get_session, list_session_insights, list_sessions
from insights_client.models import DeviceModelChange, Error, NewDeviceModel, NewModalityChannel

url, key = sys.argv[1:]
client = AuthenticatedClient(base_url=url, token=key, raise_on_unexpected_status=True)
channel = NewModalityChannel(modality="ecg", sample_rate_hz=250, bit_depth=16, num_channels=1)
model = create_device_model.sync(client=client, body=NewDeviceModel(name="python", modality_channels=[channel]))
print(model.name, [one.modality for one in model.modality_channels])
create_modality.sync(model.id, client=client, body=NewModalityChannel("accel", 50, 16, 3))
print([one.modality for one in list_modalities.sync(model.id, client=client)])
update_device_model.sync(model.id, client=client, body=DeviceModelChange(firmware_version="2"))
print(get_device_model.sync(model.id, client=client).firmware_version)
print(delete_device_model.sync_detailed(model.id, client=client).status_code.value)
gone = get_device_model.sync(model.id, client=client)
print(isinstance(gone, Error), gone.detail)
session = list_sessions.sync(client=client, limit=1)[0]
print(get_session.sync(session.id, client=client).device_id, session.status.value)
types = {one.type_ for one in list_session_insights.sync(session.id, client=client)}
since = datetime.now(timezone.utc) - timedelta(hours=1)
print(sorted(types), len(list_insights.sync(client=client, since=since, limit=3)))
print("hr-ppg" in [one.slug for one in list_algorithms.sync(client=client)])
`;

/** The same with the client of swagger-typescript-api. */
const TYPESCRIPT_JOURNEY = `
import { Api } from './api.js';
declare const process: { readonly argv: readonly string[] };

const [, , baseUrl = '', key = ''] = process.argv;
const { v1 } = new Api({ baseUrl, baseApiParams: { headers: { Authorization: \`Bearer \${key}\` } } });
const channel = { modality: 'ecg', sample_rate_hz: 250, bit_depth: 16, num_channels: 1 };
const { data: model } = await v1.createDeviceModel({ name: 'typescript', modality_channels: [channel] });
console.log(model.name, model.modality_channels.map(({ modality }) => modality));
console.log((await v1.deleteDeviceModel(model.id)).status);
console.log(await v1.getDeviceModel(model.id).catch(({ status, error }) => [status, typeof error.detail]));
const [session] = (await v1.listSessions({ device_id: 'journey', limit: 1 })).data;
const insights = (await v1.listInsights({ device_id: 'journey', since: new Date(0).toISOString(), limit: 3 })).data;
console.log(session?.device_id, session?.status, insights.length);
`;

describe('the OpenAPI document', function () {
  this.timeout(900_000); // The first run installs the programs.
  const folder = temporaryFolder();
  const run = (program: string, args: readonly string[]) => execute(program, [...args], { cwd: folder.path });
  after(() => folder.remove());

  it('has no error and no warning for Spectral', async () => {
    const spectral = await npmProgram('@stoplight/spectral-cli@6.16.3', '.bin/spectral');
    const rules = join(folder.path, 'rules.json');
    await writeFile(rules, '{"extends":["spectral:oas"]}');
    const options = ['--ruleset', rules, '--fail-severity', 'hint', '--quiet'];
    const report = await run(spectral, ['lint', DOCUMENT, ...options]).catch((error: { stdout: string }) => error);
    expect(report.stdout.trim()).to.match(/^(No results .*)?$/);
  });

  describe('served at /docs/openapi.json, without a key,', () => {
    let service: Running;
    let address = '';

    before(async () => {
      service = await Running.start({ DATA_DIR: join(folder.path, 'data'), DASHBOARD: 'on' });
      address = `${service.url}/docs/openapi.json`;
      const source = simulate({ seconds: 20 });
      const { socket } = await connect(service, 'journey', await makeModel(service, source));
      await sendFrames(socket, source, Date.now() - 20_000, 0, 20);
      socket.send({ type: 'end' });
      await socket.until(({ type }) => type === 'ended');
    });
    after(() => service.end('SIGKILL'));

    it('gives a Python client that can use every operation', async () => {
      const generator = await pythonProgram(PYTHON_GENERATOR, 'openapi-python-client');
      const options = ['--output-path', join(folder.path, 'insights_client'), '--meta', 'none', '--fail-on-warning'];
      const env = { ...process.env, PATH: `${dirname(generator)}${delimiter}${process.env.PATH}` };
      await execute(generator, ['generate', '--url', address, ...options], { cwd: folder.path, env });
      await writeFile(join(folder.path, 'journey.py'), JOURNEY);
      const { stdout } = await run(await pythonProgram(PYTHON_GENERATOR, 'python'), ['journey.py', service.url, KEY]);
      const [created, channels, version, deleted, gone, session, insights, entitled] = stdout.split('\n');
      expect([created, channels, version, deleted]).to.deep.equal(["python ['ecg']", "['ecg', 'accel']", '2', '204']);
      expect(gone).to.match(/^True .+/);
      expect([session, insights, entitled]).to.deep.equal(['journey closed', "['hr', 'rr', 'spo2'] 3", 'True']);
    });

    it('gives TypeScript of three generators that passes the strict compiler, and a client that works', async () => {
      const types = await npmProgram('openapi-typescript@7.13.0', '.bin/openapi-typescript');
      const api = await npmProgram('swagger-typescript-api@13.13.0', '.bin/swagger-typescript-api');
      const heyApi = fileOf('node_modules/@hey-api/openapi-ts/bin/run.js');
      await Promise.all([
        run(types, [address, '-o', 'typescript/types.ts']),
        run(api, ['generate', '-p', address, '-o', 'typescript', '-n', 'api.ts']),
        run(process.execPath, [heyApi, '-i', address, '-o', 'typescript/hey-api', '--no-log-file']),
      ]);
      const at = (name: string) => join(folder.path, 'typescript', name);
      await writeFile(at('journey.ts'), TYPESCRIPT_JOURNEY);
      await writeFile(at('package.json'), '{"type":"module"}');
      const common = { strict: true, target: 'es2022', module: 'esnext', moduleResolution: 'bundler', types: [] };
      const compilerOptions = { ...common, lib: ['es2022', 'dom', 'dom.iterable'], rootDir: '.', outDir: 'js' };
      await writeFile(at('tsconfig.json'), JSON.stringify({ compilerOptions, include: ['**/*.ts'] }));
      const compiled = await run(process.execPath, [TSC, '-p', at('tsconfig.json')]).catch((error) => error);
      expect(compiled.stdout).to.equal('');
      const { stdout } = await run(process.execPath, [at('js/journey.js'), service.url, KEY]);
      expect(stdout).to.equal("typescript [ 'ecg' ]\n204\n[ 404, 'string' ]\njourney closed 3\n");
    });
  });
});
