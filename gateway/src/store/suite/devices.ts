import { expect } from 'chai';
import type { DeviceModel, Session, Store } from '../store.js';
import {
  addedModel,
  allPages,
  atOnce,
  collected,
  type Handles,
  newMoment,
  rejection,
  sampleChannel,
  sampleDevice,
  sampleModel,
  sampleSession,
} from './samples.js';

export function deviceSuite({ store, other }: Handles): void {
  describe('device models', () => {
    it('keeps a model exactly, whatever its texts contain', async () => {
      const model = await addedModel(store, {
        name: 'a\u0000b "心" 𝄞',
        description: "it's\n\\",
        firmwareVersion: '',
        channels: [sampleChannel(), sampleChannel()],
        spo2Curve: [110, -25.5, 0.001],
      });
      expect(await other.deviceModel(model.id)).to.deep.equal(model);
      expect(await other.deviceModel(sampleModel().id)).to.equal(null);
    });

    it('lists the models of an account, oldest first', async () => {
      const at = newMoment();
      const late = sampleModel({ createdAt: at + 1, channels: [] });
      const early = sampleModel({ accountId: late.accountId, createdAt: at });
      for (const model of [late, early, sampleModel()]) await store.addDeviceModel(model);
      expect(await modelsOf(store, late.accountId)).to.deep.equal([early, late]);
      expect(await modelsOf(store, sampleModel().accountId)).to.deep.equal([]);
    });

    it('lists them in batches, each once, also while others are added and deleted', async () => {
      const { accountId } = sampleModel();
      const at = newMoment();
      const make = (i: number) => sampleModel({ accountId, createdAt: at + Math.floor(i / 2) });
      const before = Array.from({ length: 80 }, (_, i) => make(i));
      for (const model of before) await store.addDeviceModel(model);
      const batches: DeviceModel[][] = [];
      for await (const batch of store.deviceModels(accountId)) {
        if (batches.length === 0) {
          await other.addDeviceModel(sampleModel({ accountId, createdAt: at - 1 }));
          await other.deleteDeviceModel(batch[0]?.id ?? '');
        }
        batches.push(batch);
      }
      expect(batches.length).to.be.greaterThan(2);
      expect(batches.flat()).to.have.deep.members(before);
      const moments = batches.flat().map(({ createdAt }) => createdAt);
      expect(moments).to.deep.equal(moments.toSorted((a, b) => a - b));
    });

    it('gives an account no more models than its limit, even for simultaneous requests', async () => {
      const { accountId } = sampleModel();
      const added = await atOnce(8, [store, other], (handle) => handle.addDeviceModel(sampleModel({ accountId }), 3));
      expect(added.filter((made) => made)).to.have.length(3);
      const models = await modelsOf(store, accountId);
      expect(models).to.have.length(3);
      await store.deleteDeviceModel(models[0]?.id ?? '');
      expect(await other.addDeviceModel(sampleModel({ accountId }), 3)).to.equal(true);
      expect(await store.addDeviceModel(sampleModel({ accountId }), 3)).to.equal(false);
    });

    it('changes a model', async () => {
      const model = await addedModel(store);
      const changed = { ...model, name: 'Ring 2', spo2Curve: [1, 2], channels: [], updatedAt: newMoment() };
      expect(await store.changeDeviceModel(model.id, () => changed)).to.deep.equal(changed);
      expect(await other.deviceModel(model.id)).to.deep.equal(changed);
      expect(await store.changeDeviceModel(sampleModel().id, () => changed)).to.equal(null);
    });

    it('leaves a model unchanged if the change throws, and rejects with the same error', async () => {
      const model = await addedModel(store);
      const fault = new Error('no such channel');
      const refusal = store.changeDeviceModel(model.id, () => {
        throw fault;
      });
      expect(await rejection(refusal)).to.equal(fault);
      expect(await store.deviceModel(model.id)).to.deep.equal(model);
    });

    it('loses none of many simultaneous changes', async () => {
      const model = await addedModel(store, { channels: [] });
      const add = (m: DeviceModel) => ({ ...m, channels: [...m.channels, sampleChannel()] });
      await atOnce(10, [store, other], (handle) => handle.changeDeviceModel(model.id, add));
      expect((await store.deviceModel(model.id))?.channels).to.have.length(10);
    });

    it('deletes a model that no device references', async () => {
      const model = await addedModel(store);
      const device = sampleDevice(model);
      await store.putDevice(device);
      expect(await other.deleteDeviceModel(model.id)).to.equal('referenced');
      await store.deleteDevice(device.accountId, device.deviceId);
      expect(await other.deleteDeviceModel(model.id)).to.equal('deleted');
      expect(await store.deleteDeviceModel(model.id)).to.equal('missing');
      expect(await store.deviceModel(model.id)).to.equal(null);
    });

    it('never deletes a model while a device is added to it', async () => {
      for (let round = 0; round < 8; round++) {
        const model = await addedModel(store);
        const [first, second] = round % 2 ? [store, other] : [other, store];
        const [put, deleted] = await Promise.all([
          first.putDevice(sampleDevice(model)),
          second.deleteDeviceModel(model.id),
        ]);
        expect([put, deleted]).to.deep.equal(put === 'put' ? ['put', 'referenced'] : ['missing', 'deleted']);
        expect(await store.devices(model.accountId)).to.have.length(put === 'put' ? 1 : 0);
      }
    });
  });

  describe('devices', () => {
    it('creates the row of a device once and moves it between models', async () => {
      const model = sampleModel();
      const next = sampleModel({ accountId: model.accountId });
      for (const each of [model, next]) await store.addDeviceModel(each);
      const device = sampleDevice(model);
      expect(await store.putDevice(device)).to.equal('put');
      expect(await other.putDevice({ ...device, createdAt: device.createdAt + 9 })).to.equal('put');
      expect(await other.devices(device.accountId)).to.deep.equal([device]);
      expect(await other.putDevice({ ...device, deviceModelId: next.id })).to.equal('put');
      expect(await store.devices(device.accountId)).to.deep.equal([{ ...device, deviceModelId: next.id }]);
      expect(await store.deleteDeviceModel(model.id)).to.equal('deleted');
    });

    it('creates no row for a model that does not exist', async () => {
      const device = sampleDevice(sampleModel());
      expect(await store.putDevice(device)).to.equal('missing');
      expect(await store.devices(device.accountId)).to.deep.equal([]);
    });

    it('creates one row for many simultaneous connections of a device', async () => {
      const model = await addedModel(store);
      const device = sampleDevice(model);
      const put = await atOnce(8, [store, other], (handle) => handle.putDevice(device));
      expect(put).to.deep.equal(Array(8).fill('put'));
      expect(await store.devices(device.accountId)).to.deep.equal([device]);
    });

    it('creates the rows of a hundred devices that connect at once', async () => {
      const model = await addedModel(store);
      const put = await atOnce(100, [store, other], (handle) => handle.putDevice(sampleDevice(model)));
      expect(put).to.deep.equal(put.map(() => 'put'));
      expect(await store.devices(model.accountId)).to.have.length(100);
    });

    it('gives an account no more devices than its limit, even for simultaneous connections', async () => {
      const model = sampleModel();
      const next = sampleModel({ accountId: model.accountId });
      for (const each of [model, next]) await store.addDeviceModel(each);
      const put = await atOnce(8, [store, other], (handle) => handle.putDevice(sampleDevice(model), 3));
      expect(put.toSorted()).to.deep.equal([...Array(5).fill('full'), ...Array(3).fill('put')]);
      const [known, gone] = await store.devices(model.accountId);
      expect(known && (await other.putDevice(known, 3))).to.equal('put');
      expect(known && (await other.putDevice({ ...known, deviceModelId: next.id }, 3))).to.equal('put');
      for (const _ of [1, 2]) await store.deleteDevice(model.accountId, gone?.deviceId ?? '');
      expect(await other.putDevice(sampleDevice(model), 3)).to.equal('put');
      expect(await store.putDevice(sampleDevice(model), 3)).to.equal('full');
      expect(await store.devices(model.accountId)).to.have.length(3);
    });

    it('separates devices with the same id in two accounts', async () => {
      const mine = sampleDevice(sampleModel());
      const model = sampleModel();
      const theirs = sampleDevice(model, { deviceId: mine.deviceId });
      await store.addDeviceModel(model);
      await store.putDevice(theirs);
      expect(await store.deleteDevice(mine.accountId, mine.deviceId)).to.equal(null);
      expect(await store.deleteDevice(theirs.accountId, theirs.deviceId)).to.deep.equal(theirs);
      expect(await store.devices(theirs.accountId)).to.deep.equal([]);
    });

    it('keeps the diagnostics of a session, and the problem of its device, from the owner alone', async () => {
      const model = await addedModel(store);
      const devices = ['band-3', 'band-1', 'band-2', 'ring-1'].map((deviceId) => sampleDevice(model, { deviceId }));
      const sessions = devices.map(({ accountId, deviceId }) => sampleSession({ accountId, deviceId }));
      for (const device of devices) await store.putDevice(device);
      for (const session of sessions) await store.openSession(session);
      const [first = sampleSession()] = sessions;
      const notice = { code: 'rate_off', channel: 0, firstAt: 1, lastAt: 2, count: 3, detail: '…', isOver: false };
      const refused = [{ code: 'bad_json', count: 2 ** 40, detail: '"' }];
      const channels = [{ index: 0, declaredHz: 50, measuredHz: 49.9 }];
      const diagnostics = { notices: [notice, { ...notice, insight: 'hr', reason: 'hum' }], refused, channels };
      const put = ({ id, gateway, epoch }: Session, problem: string | null) =>
        store.putDiagnostics({ sessionId: id, gateway, epoch, diagnostics, problem });
      const problems = ['rate_off', 'no_reading', 'rate_off', null];
      for (const [i, session] of sessions.entries()) await put(session, problems[i] ?? null);
      await put({ ...first, epoch: 2 }, 'all_lost');
      expect(await other.diagnostics(first.id)).to.deep.equal(diagnostics);
      expect(await other.diagnostics(sampleSession().id)).to.equal(null);
      const scope = { accountId: model.accountId, prefix: null, limit: 2, withProblem: true };
      const pages = await allPages((cursor) => other.devicePage({ ...scope, cursor }));
      expect(pages.map((page) => page.map(({ deviceId, problem }) => `${deviceId} ${problem}`))).to.deep.equal([
        ['band-1 no_reading', 'band-2 rate_off'],
        ['band-3 rate_off'],
      ]);
      await put(first, null);
      expect((await other.device(model.accountId, 'band-3'))?.problem).to.equal(null);
      await store.closeSession(first.id, 1, 5);
      expect(await other.diagnostics(first.id)).to.deep.equal(diagnostics);
      await store.eraseSession(first.id);
      expect(await other.diagnostics(first.id)).to.equal(null);
    });

    it('lists each device with its open session or, without one, its newest', async () => {
      const model = await addedModel(store);
      const { accountId } = model;
      const sessionOf = (deviceId: string, startedAt: number) => sampleSession({ accountId, deviceId, startedAt });
      const early = { band: sessionOf('band', 5), ring: sessionOf('ring', 5) };
      const late = { band: sessionOf('band', 9), ring: sessionOf('ring', 9) };
      for (const deviceId of ['band', 'new', 'ring']) await store.putDevice(sampleDevice(model, { deviceId }));
      for (const session of [late.band, early.ring, late.ring]) {
        await store.openSession(session);
        await store.closeSession(session.id, 1, 20);
      }
      await store.openSession(early.band); // A clock was set back: the open session is not the newest.
      await store.openSession(sampleSession({ deviceId: 'ring' })); // Of another account.
      const { rows } = await other.devicePage({ accountId, prefix: null, limit: 9, cursor: null });
      expect(rows.map(({ deviceId, session }) => [deviceId, session])).to.deep.equal([
        ['band', early.band],
        ['new', null],
        ['ring', { ...late.ring, status: 'closed', endedAt: 20 }],
      ]);
      expect(await other.device(accountId, 'band')).to.deep.equal(rows[0]);
    });

    it('finds the devices with an open session, with the diagnostics of it', async () => {
      const { accountId, gateway } = sampleSession();
      const ids = ['ring-2', 'ring-1', 'band', 'ring-3'];
      const sessions = ids.map((deviceId) => sampleSession({ accountId, deviceId, gateway }));
      for (const session of [...sessions, sampleSession({ deviceId: 'ring-0' })]) await store.openSession(session);
      const [second, first, , last] = sessions.map(({ id }) => id);
      const diagnostics = { notices: [], refused: [{ code: 'bad_json', count: 1, detail: '"' }], channels: [] };
      await store.putDiagnostics({ sessionId: second ?? '', gateway, epoch: 1, diagnostics, problem: 'refused' });
      await store.closeSession(last ?? '', 1, 20);
      const found = (prefix: string | null, limit = 9) => other.streamingDevices({ accountId, prefix, limit });
      expect(await found('ring')).to.deep.equal([
        { deviceId: 'ring-1', sessionId: first, diagnostics: null },
        { deviceId: 'ring-2', sessionId: second, diagnostics },
      ]);
      expect((await found(null, 2)).map(({ deviceId }) => deviceId)).to.deep.equal(['band', 'ring-1']);
    });

    it('finds one device, and pages through all, or through those with a common prefix, by id', async () => {
      const model = await addedModel(store);
      const ids = ['ring-2', 'band-1', 'ring-10', 'ring-1', 'Band:1'];
      for (const deviceId of ids) await store.putDevice(sampleDevice(model, { deviceId }));
      const paged = async (prefix: string | null) =>
        (await allPages((cursor) => other.devicePage({ accountId: model.accountId, prefix, limit: 2, cursor }))).map(
          (page) => page.map(({ deviceId }) => deviceId),
        );
      expect(await paged(null)).to.deep.equal([['Band:1', 'band-1'], ['ring-1', 'ring-10'], ['ring-2']]);
      expect(await paged('ring-1')).to.deep.equal([['ring-1', 'ring-10']]);
      expect(await paged('rings')).to.deep.equal([[]]);
      const one = await other.device(model.accountId, 'ring-2');
      expect(one).to.deep.equal({ ...sampleDevice(model, { deviceId: 'ring-2' }), session: null });
      expect(await other.device(sampleModel().accountId, 'ring-2')).to.equal(null);
    });
  });
}

async function modelsOf(store: Store, accountId: string): Promise<DeviceModel[]> {
  return (await collected(store.deviceModels(accountId))).flat();
}
