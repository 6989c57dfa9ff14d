import { readFileSync } from 'node:fs';
import {
  ApiError,
  DeviceInsights,
  type DeviceInsightsOptions,
  type DeviceModel,
  type InsightsQuery,
} from '@device-insights/sdk';
import { play, simulate } from '@device-insights/sdk/simulator';
import { expect } from 'chai';
import { KEY, Running, temporaryFolder } from './running.js';

const DOCUMENT = JSON.parse(readFileSync(new URL('../../gateway/openapi.json', import.meta.url), 'utf8')) as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
};
const METHODS = ['get', 'post', 'put', 'delete', 'patch'];
/** The operations of the OpenAPI document. The SDK has no method for the document itself. */
const OPERATIONS = Object.entries(DOCUMENT.paths)
  .filter(([path]) => path !== '/openapi.json')
  .flatMap(([path, item]) =>
    Object.keys(item)
      .filter((method) => METHODS.includes(method))
      .map((method) => `${method.toUpperCase()} ${path}`),
  );
const CHANNEL = { modality: 'ppg_green', sample_rate_hz: 50, bit_depth: 18, num_channels: 1 };
const UNKNOWN = '00000000-0000-4000-8000-000000000000';

/** The operation of a request; undefined if the document has none. */
function operationOf(method: string, url: string): string | undefined {
  const parts = new URL(url).pathname.split('/');
  return OPERATIONS.find((operation) => {
    const [known, path = ''] = operation.split(' ');
    const pattern = path.split('/');
    return (
      known === method &&
      pattern.length === parts.length &&
      pattern.every((part, i) => part.startsWith('{') || part === parts[i])
    );
  });
}

async function all<T>(rows: AsyncIterable<T>): Promise<T[]> {
  const collected: T[] = [];
  for await (const row of rows) collected.push(row);
  return collected;
}

const failure = (promise: PromiseLike<unknown>) =>
  Promise.resolve(promise).then(
    () => null,
    (error: unknown) => error,
  );

describe('the REST client of the SDK with a real gateway', () => {
  const data = temporaryFolder();
  const succeeded = new Set<string>();
  let service: Running;
  let client: DeviceInsights;
  let used: DeviceModel;

  const clientOf = (options: Partial<DeviceInsightsOptions> = {}) =>
    new DeviceInsights({
      baseUrl: service.url,
      apiKey: KEY,
      retries: 0,
      fetch: async (url, init) => {
        const response = await fetch(url, init);
        const operation = operationOf(init?.method ?? 'GET', String(url));
        expect(operation, `${init?.method} ${url}`).not.to.equal(undefined);
        if (response.ok && operation) succeeded.add(operation);
        return response;
      },
      ...options,
    });

  before(async () => {
    service = await Running.start({ DATA_DIR: data.path });
    client = clientOf();
    const source = simulate({ seconds: 20 });
    used = await client.deviceModels.create(source.deviceModel);
    const device = client.device({ deviceId: 'band-1', deviceModelId: used.id });
    await play(source, device, { speed: Number.POSITIVE_INFINITY, startTime: Date.now() - 20_000 });
    await device.end();
  });
  after(async () => {
    await service.end('SIGKILL');
    data.remove();
  });

  it('creates, reads, changes and deletes device models', async () => {
    const model = await client.deviceModels.create({ name: 'Band', modality_channels: [CHANNEL] });
    expect(model).to.deep.include({ name: 'Band', description: '', firmware_version: '' });
    expect(model.modality_channels[0]).to.include(CHANNEL);
    expect(await client.deviceModels.get(model.id)).to.deep.equal(model);
    expect((await client.deviceModels.list()).map(({ id }) => id)).to.deep.equal([used.id, model.id]);
    expect(await client.deviceModels.update(model.id, { name: 'Ring' })).to.include({ id: model.id, name: 'Ring' });
    expect(await client.deviceModels.delete(model.id)).to.equal(undefined);
    expect(await failure(client.deviceModels.get(model.id)))
      .to.be.instanceOf(ApiError)
      .and.include({ status: 404 });
  });

  it('creates, reads, changes and deletes modality channels', async () => {
    const { id } = await client.deviceModels.create({ name: 'Patch' });
    const channel = await client.modalities.create(id, CHANNEL);
    expect(channel).to.include(CHANNEL);
    expect(await client.modalities.list(id)).to.deep.equal([channel]);
    const changed = { ...channel, bit_depth: 24 };
    expect(await client.modalities.update(id, channel.ch_id, { bit_depth: 24 })).to.deep.equal(changed);
    expect(await client.modalities.delete(id, channel.ch_id)).to.equal(undefined);
    expect(await client.modalities.list(id)).to.deep.equal([]);
  });

  it('creates once although the answer to its first attempt is lost', async () => {
    const answered: string[] = [];
    const losing = clientOf({
      retries: 1,
      fetch: async (url, init) => {
        const response = await fetch(url, init);
        answered.push(((await response.clone().json()) as DeviceModel).id);
        if (answered.length === 1) throw new TypeError('the connection was lost');
        return response;
      },
    });
    const { id } = await losing.deviceModels.create({ name: 'Once' });
    expect(answered).to.deep.equal([id, id]);
    expect((await client.deviceModels.create({ name: 'Once' })).id).not.to.equal(id);
  });

  it('reads sessions and their insights', async () => {
    const { data: sessions, next } = await client.sessions.list({ status: 'closed', device_id: 'band-1' });
    expect([sessions.length, next]).to.deep.equal([1, null]);
    const [session] = sessions;
    const id = session?.id ?? '';
    const { diagnostics, ...one } = await client.sessions.get(id);
    expect(one).to.deep.equal(session);
    expect(diagnostics?.channels.map(({ measured_hz }) => measured_hz)).to.deep.equal([100, 100, 100, 250, 100]);
    const insights = await client.sessions.insights(id);
    expect(insights.length).to.be.greaterThan(10);
    for (const insight of insights) expect(insight).to.include({ session_id: id, device_id: 'band-1' });
    const hr = insights
      .filter(({ type, sqi_class }) => type === 'hr' && sqi_class !== 'unfit')
      .map(({ value }) => value);
    for (const beat of await client.sessions.beats(id)) expect(beat).to.have.all.keys('t', 'source', 'quality');
    const summary = await client.sessions.summary(id);
    expect(summary.find(({ type }) => type === 'hr')).to.include({
      minimum: Math.min(...hr),
      maximum: Math.max(...hr),
    });
  });

  it('reads stored insights page after page, forward from an instant and back from the newest', async () => {
    const type = 'hr' as const;
    const once = (await client.insights.list({ type, since: 0, limit: 1000 })).data;
    const times = once.map(({ ts }) => ts);
    expect(times.length).to.be.greaterThan(5);
    const forward = await all(client.insights.list({ type, since: new Date(0), limit: 2 }));
    expect(forward).to.deep.equal(once);
    expect(await all(client.insights.list({ type, limit: 2 }))).to.deep.equal([...once].reverse());
    const [first = 0, second = 0] = times;
    const found = await all(client.insights.list({ type, device_id: 'band-1', since: first, until: second }));
    expect(found.map(({ ts }) => ts)).to.deep.equal([first]);
  });

  it('finds sessions and insights by the time of their data, in order of their data', async () => {
    const type = 'hr' as const;
    const once = (await client.insights.list({ type, since: 0, limit: 1000 })).data;
    const ends = once.map(({ actual_end }) => actual_end).sort((a, b) => a - b);
    const found = async (query: InsightsQuery) =>
      (await all(client.insights.list({ type, limit: 2, ...query }))).map(({ actual_end }) => actual_end);
    const [first = 0, second = 0] = ends;
    expect(await found({ data_since: first })).to.deep.equal(ends);
    expect(await found({ data_until: new Date(second) })).to.deep.equal([first]);
    expect(await found({ data_until: first + 3_600_000, since: 0 })).to.deep.equal([...ends].reverse());
    expect((await client.sessions.list({ data_since: first })).data.map(({ device_id }) => device_id)).to.deep.equal([
      'band-1',
    ]);
    expect((await client.sessions.list({ data_until: first - 3_600_000 })).data).to.deep.equal([]);
  });

  it('reads algorithms and health, which needs no key', async () => {
    expect((await client.algos.list()).length).to.be.greaterThan(2);
    expect(await clientOf({ apiKey: 'svc_unknown' }).health()).to.include({ ok: true });
  });

  it('rejects with the status of each refusal', async () => {
    for (const [call, status] of [
      [() => client.deviceModels.create({ name: '' }), 400],
      [() => clientOf({ apiKey: 'svc_unknown' }).algos.list(), 401],
      [() => client.modalities.delete(used.id, UNKNOWN), 404],
      [() => client.sessions.get('a/b'), 404],
      [() => client.deviceModels.delete(used.id), 409],
    ] as const)
      expect(await failure(call()))
        .to.be.instanceOf(ApiError)
        .and.include({ status })
        .and.property('requestId')
        .is.a('string');
  });

  it('has performed every operation of the OpenAPI document but uploads, as its devices stream', () => {
    expect([...succeeded, 'POST /v1/uploads'].sort()).to.deep.equal([...OPERATIONS].sort());
  });
});
