import { runAdmin } from '@device-insights/gateway/test-admin';
import { DeviceInsights } from '@device-insights/sdk';
import { simulate } from '@device-insights/sdk/simulator';
import { expect } from 'chai';
import { eventually } from './eventually.js';
import { Operator } from './operator.js';
import { KEY, Running, temporaryFolder } from './running.js';
import { connect, makeModel, sendFrames } from './wearable.js';

const source = simulate({ seconds: 60 });

describe('admin commands that erase, while a service is running', () => {
  const folder = temporaryFolder();
  const env = { DATA_DIR: folder.path };
  const operator = new Operator(env);
  let service: Running;
  let modelId: string;
  let accountId: string;

  before(async () => {
    service = await Running.start(env);
    modelId = await makeModel(service, source);
    const accounts = (await admin('account', 'list')) as { id: string }[];
    accountId = accounts[0]?.id ?? '';
  });
  after(async () => {
    await service.end('SIGKILL');
    folder.remove();
  });

  const admin = (...words: string[]) => runAdmin<unknown>(env, words);

  /** A device of a key that has sent some data, and whose session is open. */
  async function streaming(deviceId: string, key: string) {
    const { socket, ready } = await connect(service, deviceId, modelId, key);
    await sendFrames(socket, source, Date.now() - 60_000, 0, 60);
    const insights = () => service.call<unknown[]>('GET', `/v1/sessions/${ready.session_id}/insights`);
    await eventually('there are readings', async () => (await insights()).body.length > 100);
    return { socket, id: ready.session_id, insights };
  }

  const refusalOf = (promise: Promise<unknown>) =>
    promise.then(
      () => null,
      (error: Error) => error.message,
    );

  it('session delete: refuses an open session, and deletes a closed one with its insights', async () => {
    const { socket, id, insights } = await streaming('band', KEY);
    expect(await refusalOf(admin('session', 'delete', id))).to.include('the session is open');
    socket.send({ type: 'end' });
    await socket.until((message) => message.type === 'ended');
    const { length } = (await insights()).body;
    expect(await admin('session', 'delete', id)).to.deep.equal({ id, sessions: 1, insights: length });
    expect((await insights()).status).to.equal(404);
    const { body } = await service.call<{ session_id: string }[]>('GET', '/v1/insights?limit=1000');
    expect(body.filter(({ session_id }) => session_id === id)).to.deep.equal([]);
  });

  it('user erase: closes the sockets of the user, and erases the sessions, insights and keys of this user only', async () => {
    const [anna, ben] = [
      await operator.issue('default', '--user', 'anna'),
      await operator.issue('default', '--user', 'ben'),
    ];
    const [hers, his] = [await streaming('of-anna', anna.key), await streaming('of-ben', ben.key)];
    const erased = (await admin('user', 'erase', '--account', accountId, '--user', 'anna')) as { insights: number };
    expect(erased).to.include({ account_id: accountId, user: 'anna', sessions: 1, keys: 1 });
    expect(erased.insights).to.be.greaterThan(100);
    expect(await hers.socket.closed()).to.include({ code: 4001 });
    expect((await hers.insights()).status).to.equal(404);
    expect((await service.call('GET', '/v1/sessions', undefined, anna.key)).status).to.equal(401);
    const keys = (await admin('key', 'list', '--account', accountId)) as { user: string | null }[];
    expect(keys.map(({ user }) => user))
      .to.include('ben')
      .and.not.include('anna');
    expect((await his.insights()).body.length).to.be.greaterThan(100);
    his.socket.send({ type: 'end' });
    await his.socket.until((message) => message.type === 'ended');
    expect(await refusalOf(admin('user', 'erase', '--account', accountId, '--user', 'anna'))).to.include(
      'no key and no',
    );
  });

  it('account delete: leaves no data of an account, and its key is refused', async () => {
    const { key } = await operator.issue('ward');
    const accounts = (await admin('account', 'list')) as { id: string; name: string }[];
    const id = accounts.find(({ name }) => name === 'ward')?.id ?? '';
    const client = new DeviceInsights({ baseUrl: service.url, apiKey: key });
    await client.deviceModels.create(source.deviceModel);
    expect(await admin('account', 'delete', id)).to.include({ id, name: 'ward', keys: 1, sessions: 0 });
    expect(await admin('account', 'list')).to.have.length(accounts.length - 1);
    expect((await service.call('GET', '/v1/device-models', undefined, key)).status).to.equal(401);
    expect(await refusalOf(admin('account', 'delete', id))).to.include('no account');
    expect((await service.health()).ok).to.equal(true);
  });
});
