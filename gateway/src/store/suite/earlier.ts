import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { Session, Store } from '../store.js';
import {
  NO_PROGRESS,
  newMoment,
  partOf,
  sampleAccount,
  sampleDevice,
  sampleInsight,
  sampleKey,
  sampleModel,
  sampleSession,
} from './samples.js';

/** One row of each kind, as the first version of the schema had them: a test writes them without the store. */
export function earlierRows() {
  const account = sampleAccount({ algorithms: ['hr-ppg'] });
  const accountId = account.id;
  const {
    expiresAt: _,
    subscribeOnly: __,
    replacedBy: ___,
    permissions: ____,
    label: _____,
    ...key
  } = sampleKey({ accountId, lastUsedAt: 5 });
  const model = sampleModel({ accountId, spo2Curve: [110, -25] });
  const device = sampleDevice(model);
  const progress = { ...NO_PROGRESS, firstInstant: 5, nextSeq: { 0: 100 }, lastDataAt: 7 };
  const place = { accountId, deviceId: device.deviceId, deviceModelId: model.id };
  const session = sampleSession({ ...place, user: 'ann', epoch: 2, algorithms: ['hr-ppg'], progress });
  const insight = sampleInsight(session, newMoment());
  const claim = { accountId, route: 'POST /v1/device-models', key: 'k', bodyHash: 'h', at: newMoment() };
  return {
    account,
    key,
    model,
    device,
    session,
    insight,
    claim,
    response: { status: 201, body: '{"id":"m"}' },
    /** The gateway from which the session's owner took it. */
    previousOwner: randomUUID(),
    beat: newMoment(),
  };
}

/** Reads all these rows through the store, then changes what changes while a session runs. */
export async function expectKept(store: Store, rows: ReturnType<typeof earlierRows>): Promise<void> {
  const { account, key, model, device, session, insight, claim, response, previousOwner, beat } = rows;
  const accountId = account.id;
  const list = { limit: 10, cursor: null };
  const scope = { accountId, user: 'ann', ...list };
  const laterFields = {
    expiresAt: null,
    subscribeOnly: false,
    replacedBy: null,
    permissions: ['read', 'stream', 'manage'],
    label: '',
  };
  expect(await store.accounts()).to.deep.equal([account]);
  expect(await store.keyByHash(key.hash)).to.deep.equal({ ...key, ...laterFields });
  expect((await store.keyPage({ accountId, user: null, ...list })).rows).to.deep.equal([{ ...key, ...laterFields }]);
  expect(await store.deviceModel(model.id)).to.deep.equal(model);
  const devices = await store.devicePage({ accountId, prefix: null, ...list });
  expect(devices.rows.map(({ session: _, ...row }) => row)).to.deep.equal([device]);
  expect(await store.putDevice({ ...device, deviceId: 'one more' }, 1)).to.equal('full');
  expect(asBefore(await store.openSessionOf(accountId, device.deviceId))).to.deep.equal(session);
  const ofDevice = { ...scope, deviceId: device.deviceId };
  expect((await store.sessions({ ...ofDevice, status: 'open' })).rows.map(asBefore)).to.deep.equal([session]);
  expect((await store.insights({ ...ofDevice, type: 'hr', since: 0, until: null })).rows).to.deep.equal([insight]);
  expect(await store.lastInsights(session.id)).to.deep.equal({
    hr: { ts: insight.ts, actualEnd: insight.actual_end },
  });
  expect((await store.beats()).get(session.gateway)).to.equal(beat);
  expect(await store.claimIdempotencyKey(claim)).to.deep.equal({ state: 'done', response });

  expect(await store.takenSessions(previousOwner)).to.deep.equal([{ id: session.id, epoch: 2 }]);
  expect(await store.takenSessions(previousOwner)).to.deep.equal([]);
  const next = sampleInsight(session, newMoment());
  expect(await store.commit([partOf(session, [insight, next])])).to.deep.equal([{ lost: false, written: [next] }]);
  expect(await store.claimSession(session.id, 2, randomUUID())).to.include({ epoch: 3 });
  expect(await store.takenSessions(session.gateway)).to.deep.equal([{ id: session.id, epoch: 3 }]);
  await store.probe(newMoment());
}

/** A session without what a store may add to an earlier row: the end of its data, from its insights. */
function asBefore(session: Session | null): Session | null {
  if (!session) return null;
  const { lastInstant: _, ...progress } = session.progress;
  return { ...session, progress };
}
