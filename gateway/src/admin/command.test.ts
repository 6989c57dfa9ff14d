import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hashKey, isKey } from '@device-insights/fanout/api-key';
import { ManualClock } from '@device-insights/fanout/platform/manual-clock.fixture';
import { expect } from 'chai';
import { CommanderError } from 'commander';
import { z } from 'zod';
import { isPassword } from '../operators/password.js';
import { openTemporaryStore } from '../store/embedded/temporary-store.fixture.js';
import type { Store } from '../store/store.js';
import { addedModel, partOf, sampleBlock, sampleDevice, sampleInsight, sampleSession } from '../store/suite/samples.js';
import { adminCommand } from './command.js';
import type { AdminContext } from './context.js';
import { Refusal } from './refusal.js';

const ALGORITHMS = ['hr-ppg', 'hr-ecg', 'spo2'].map((slug) => ({ slug }));
const HOUR_MS = 3_600_000;
const NOWHERE = '11111111-2222-4333-8444-555555555555';
const Identified = z.looseObject({ id: z.string() });

describe('admin', () => {
  const clock = new ManualClock(Date.parse('2026-03-01T10:00:00.000Z'));
  let store: Store;
  let account: string;

  before(async () => {
    store = await openTemporaryStore(clock);
    account = Identified.parse(await admin('account', 'create', 'clinic')).id;
  });
  after(() => store.close());

  /** Runs a command and gives what it prints. */
  async function admin(...words: string[]): Promise<unknown> {
    let printed: unknown;
    const context: AdminContext = { store, algorithms: ALGORITHMS, clock, actor: 'admin command' };
    const nothing = async () => undefined;
    const files = { backUp: nothing, restore: nothing, verify: nothing, verifyStore: nothing }; // tested as processes
    const command = adminCommand(async (task) => {
      printed = await task(context);
    }, files);
    await command.parseAsync(words, { from: 'user' });
    return printed;
  }

  /** The one line of a command that is refused. */
  async function refused(...words: string[]): Promise<string> {
    const error: unknown = await admin(...words).catch((e: unknown) => e);
    if (!(error instanceof Refusal || error instanceof CommanderError)) throw error ?? new Error('it was not refused');
    expect(error.message).not.to.contain('\n');
    return error.message;
  }

  describe('account', () => {
    it('create makes an account that is entitled to all algorithms', async () => {
      const made = Identified.parse(await admin('account', 'create', 'ward'));
      expect(made).to.deep.equal({
        id: made.id,
        name: 'ward',
        algorithms: ['hr-ppg', 'hr-ecg', 'spo2'],
        created_at: '2026-03-01T10:00:00.000Z',
      });
      expect((await store.account(made.id))?.algorithms).to.equal(null);
      expect(await admin('account', 'list')).to.deep.include(made);
    });

    it('create refuses a name that is taken, empty or too long', async () => {
      expect(await refused('account', 'create', 'clinic')).to.equal('there is already an account named "clinic"');
      for (const name of ['', ' ', 'x'.repeat(201)]) {
        expect(await refused('account', 'create', name)).to.equal('the name must have 1 to 200 characters');
      }
    });

    it('entitle sets the algorithms and prints the whole account', async () => {
      const { id } = Identified.parse(await admin('account', 'create', 'entitled'));
      const some = await admin('account', 'entitle', '--account', id, '--algos', 'spo2, hr-ppg,spo2');
      expect(some).to.deep.include({ id, name: 'entitled', algorithms: ['hr-ppg', 'spo2'] });
      expect((await store.account(id))?.algorithms).to.deep.equal(['hr-ppg', 'spo2']);
      const all = await admin('account', 'entitle', '--account', id, '--algos', 'all');
      expect(all).to.deep.include({ algorithms: ['hr-ppg', 'hr-ecg', 'spo2'] });
      expect((await store.account(id))?.algorithms).to.equal(null);
    });

    it('entitle refuses unknown accounts and algorithms', async () => {
      const unknown = await refused('account', 'entitle', '--account', NOWHERE, '--algos', 'all');
      expect(unknown).to.contain(`there is no account with the id or name "${NOWHERE}"`);
      for (const algos of ['hr-ppg,nope', '', 'hr-ppg,', 'ALL']) {
        expect(await refused('account', 'entitle', '--account', account, '--algos', algos)).to.contain('no algorithm');
      }
    });
  });

  describe('key', () => {
    it('issue takes the name of an account instead of its id', async () => {
      const { name } = z.object({ name: z.string() }).parse(await store.account(account));
      expect(await admin('key', 'issue', '--account', name)).to.include({ account_id: account });
    });

    it('issue makes a key, which is shown only once and stored as a hash', async () => {
      const made = Identified.extend({ key: z.string() }).parse(await admin('key', 'issue', '--account', account));
      expect(isKey(made.key)).to.equal(true);
      const { key, ...rest } = made;
      expect(rest).to.deep.equal({
        id: made.id,
        account_id: account,
        user: null,
        prefix: key.slice(0, 8),
        last_four: key.slice(-4),
        label: '',
        permissions: ['read', 'stream', 'manage'],
        created_at: '2026-03-01T10:00:00.000Z',
        last_used_at: null,
        revoked_at: null,
        expires_at: null,
      });
      expect(await store.keyByHash(hashKey(key))).to.deep.include({ id: made.id, accountId: account });
      expect(await admin('key', 'list', '--account', account)).to.deep.include(rest);
    });

    it('issue --permissions and --label set what the key may do and what it is called', async () => {
      const issue = (...options: string[]) => admin('key', 'issue', '--account', account, ...options);
      expect(await issue('--user', 'ann')).to.deep.include({ permissions: ['read', 'stream'], label: '' });
      const kiosk = ['--permissions', 'read', '--label', 'kiosk'];
      expect(await issue('--user', 'ann', ...kiosk)).to.deep.include({ permissions: ['read'], label: 'kiosk' });
      expect(await issue('--permissions', 'manage,read')).to.deep.include({ permissions: ['read', 'manage'] });
    });

    it("issue refuses unknown permissions, a user's key that manages, and a long label", async () => {
      const refusal = (...options: string[]) => refused('key', 'issue', '--account', account, ...options);
      for (const names of ['', 'write', 'read,', 'read, stream'])
        expect(await refusal('--permissions', names)).to.contain('one or more of read, stream, manage');
      expect(await refusal('--user', 'ann', '--permissions', 'read,manage')).to.contain("a user's key cannot");
      expect(await refusal('--label', 'x'.repeat(101))).to.contain('at most 100 characters');
    });

    it('rotate keeps the permissions and the label', async () => {
      const options = ['--user', 'ann', '--permissions', 'stream', '--label', 'band'];
      const { id } = Identified.parse(await admin('key', 'issue', '--account', account, ...options));
      const replacement = { user: 'ann', permissions: ['stream'], label: 'band' };
      expect(await admin('key', 'rotate', id)).to.deep.include(replacement);
    });

    it('issue --user binds the key to a user', async () => {
      expect(await admin('key', 'issue', '--account', account, '--user', 'ann')).to.include({ user: 'ann' });
      expect(await refused('key', 'issue', '--account', account, '--user', '')).to.contain('the user must have');
    });

    it('issue --expires sets when the key expires, by a duration or an instant', async () => {
      const now = clock.now();
      const at = async (expires: string) =>
        Identified.parse(await admin('key', 'issue', '--account', account, '--expires', expires)).expires_at;
      const iso = (ms: number) => new Date(ms).toISOString();
      expect(await at('90m')).to.equal(iso(now + 90 * 60_000));
      expect(await at('12h')).to.equal(iso(now + 12 * 3_600_000));
      expect(await at('30d')).to.equal(iso(now + 30 * 86_400_000));
      expect(await at('4w')).to.equal(iso(now + 28 * 86_400_000));
      expect(await at('2027-01-01T00:00:00+01:00')).to.equal('2026-12-31T23:00:00.000Z');
      const listed = z.array(Identified).parse(await admin('key', 'list', '--account', account));
      expect(listed.map((key) => key.expires_at)).to.include('2026-12-31T23:00:00.000Z');
    });

    it('issue --expires refuses past and invalid times, and issues nothing', async () => {
      const before = await admin('key', 'list', '--account', account);
      const issue = (expires: string) => refused('key', 'issue', '--account', account, '--expires', expires);
      for (const past of ['2026-03-01T09:59:59Z', '2026-03-01T10:00Z', '1969-01-01T00:00Z', '0d'])
        expect(await issue(past), past).to.contain('must be in the future');
      for (const text of [
        '',
        '30',
        'd',
        '-1d',
        '1.5d',
        '1y',
        'never',
        '2026-13-01T00:00Z',
        '2027-01-01',
        '9999999999d',
      ])
        expect(await issue(text), text).to.contain('a time from now (90m, 12h, 30d, 4w) or an RFC 3339 time');
      expect(await issue('999999999w')).to.contain('before the year 10000');
      expect(await admin('key', 'list', '--account', account)).to.deep.equal(before);
    });

    it('revoke prints all fields of the key, and a second revoke keeps the first time', async () => {
      const { key, ...issued } = z
        .looseObject({ id: z.string() })
        .parse(await admin('key', 'issue', '--account', account));
      const revoked = await admin('key', 'revoke', issued.id);
      expect(revoked).to.deep.equal({ ...issued, revoked_at: '2026-03-01T10:00:00.000Z' });
      clock.advance(5000);
      expect(await admin('key', 'revoke', issued.id)).to.deep.equal(revoked);
      expect((await store.keyByHash(hashKey(String(key))))?.revokedAt).not.to.equal(null);
    });

    it('refuses unknown accounts and keys', async () => {
      expect(await refused('key', 'issue', '--account', 'x')).to.contain('there is no account with the id or name "x"');
      expect(await refused('key', 'list', '--account', NOWHERE)).to.contain('there is no account');
      expect(await refused('key', 'revoke', NOWHERE)).to.contain('there is no key with the id');
    });
  });

  describe('device', () => {
    it('lists and deletes the devices of an account', async () => {
      const { id } = Identified.parse(await admin('account', 'create', 'devices'));
      const model = await addedModel(store, { accountId: id });
      await store.putDevice(sampleDevice(model, { deviceId: 'band-1', createdAt: 1000 }));
      const device = {
        account_id: id,
        device_id: 'band-1',
        device_model_id: model.id,
        created_at: '1970-01-01T00:00:01.000Z',
      };
      expect(await admin('device', 'list', '--account', id)).to.deep.equal([device]);
      expect(await refused('device', 'delete', '--account', account, 'band-1')).to.contain('has no device "band-1"');
      expect(await admin('device', 'delete', '--account', id, 'band-1')).to.deep.equal(device);
      expect(await admin('device', 'list', '--account', id)).to.deep.equal([]);
      expect(await refused('device', 'delete', '--account', id, 'band-1')).to.contain('has no device');
      expect(await refused('device', 'list', '--account', NOWHERE)).to.contain('there is no account');
    });

    it('deletes many devices by the beginning of their ids and the time of their first connection', async () => {
      const { id } = Identified.parse(await admin('account', 'create', 'many devices'));
      const model = await addedModel(store, { accountId: id });
      clock.advance(100 * HOUR_MS);
      for (const [deviceId, hours] of [
        ['band-1', 50],
        ['band-2', 2],
        ['watch-1', 50],
        ['watch-2', 1],
      ] as const)
        await store.putDevice(sampleDevice(model, { deviceId, createdAt: clock.now() - hours * HOUR_MS }));
      const left = async () => (await store.devices(id)).map(({ deviceId }) => deviceId);
      const remove = (...args: string[]) => admin('device', 'delete', '--account', id, ...args);
      expect(await remove('--prefix', 'watch-', '--before', '48h')).to.include({ account_id: id, devices: 1 });
      expect(await left()).to.have.members(['band-1', 'band-2', 'watch-2']);
      expect(await remove('--since', '3h')).to.include({ devices: 2 });
      expect(await left()).to.deep.equal(['band-1']);
      expect(await remove('--prefix', 'band')).to.include({ devices: 1 });
      for (const args of [[], ['band-1', '--prefix', 'band']])
        expect(await refused('device', 'delete', '--account', id, ...args)).to.contain('either a DEVICE_ID, or');
      expect(await refused('device', 'delete', '--account', id, '--since', 'now')).to.contain(
        '--since must be a time ago',
      );
    });
  });

  describe('key rotate', () => {
    it('makes a key for the same user, and lets the old key expire after the overlap', async () => {
      const old = Identified.parse(await admin('key', 'issue', '--account', account, '--user', 'zoë'));
      const made = Identified.parse(await admin('key', 'rotate', old.id, '--overlap', '2h'));
      expect(made).to.include({ user: 'zoë', expires_at: null }).and.to.have.property('key').that.matches(/^svc_/);
      const after = await store.key(old.id);
      expect(after).to.include({ replacedBy: made.id, expiresAt: clock.now() + 7_200_000, revokedAt: null });
      expect(await refused('key', 'rotate', old.id)).to.contain('issue another one');
      expect(await refused('key', 'rotate', NOWHERE)).to.contain('there is no key with the id');
    });

    it('refuses an overlap that is no time, and lets the old key be', async () => {
      const old = Identified.parse(await admin('key', 'issue', '--account', account));
      for (const text of ['', '0h', '999999999w'])
        expect(await refused('key', 'rotate', old.id, '--overlap', text)).to.match(/^the end of the overlap must be /);
      expect(await store.key(old.id)).to.include({ replacedBy: null, expiresAt: null });
    });
  });

  describe('operator', () => {
    it('add creates an operator, whose password is shown only once', async () => {
      const made = Identified.parse(await admin('operator', 'add', 'ann'));
      const viewer = Identified.parse(await admin('operator', 'add', 'bob', '--viewer'));
      expect(made).to.include({ name: 'ann', role: 'operator' });
      expect(viewer).to.include({ name: 'bob', role: 'viewer' });
      const { password, ...rest } = made;
      expect(await isPassword(String(password), (await store.operatorNamed('ann'))?.password ?? null)).to.equal(true);
      expect(await admin('operator', 'list')).to.deep.include(rest);
      expect(await refused('operator', 'add', 'ann')).to.contain('there is already an operator named "ann"');
      expect(await refused('operator', 'add', ' ')).to.contain('the name must have');
    });

    it('reset sets a new password, and remove removes the operator', async () => {
      const { password: first } = Identified.parse(await admin('operator', 'add', 'eve'));
      const { password } = Identified.parse(await admin('operator', 'reset', 'eve'));
      const { password: kept = null } = (await store.operatorNamed('eve')) ?? {};
      expect(await isPassword(String(password), kept)).to.equal(true);
      expect(await isPassword(String(first), kept)).to.equal(false);
      expect(await admin('operator', 'remove', 'eve')).to.include({ name: 'eve' });
      expect(await store.operatorNamed('eve')).to.equal(null);
      for (const command of ['reset', 'remove'])
        expect(await refused('operator', command, 'eve')).to.contain('there is no operator named "eve"');
    });
  });

  it('operator remove keeps the last operator who may change anything', async () => {
    await admin('operator', 'add', 'last-viewer', '--viewer');
    const [last, ...others] = (await store.operators()).filter(({ role }) => role === 'operator');
    const name = last?.name ?? String(Identified.parse(await admin('operator', 'add', 'last')).name);
    for (const other of others) await admin('operator', 'remove', other.name);
    expect(await refused('operator', 'remove', name)).to.contain('add another one first');
    expect(await store.operatorNamed(name)).not.to.equal(null);
    await admin('operator', 'remove', 'last-viewer');
    await admin('operator', 'add', 'successor');
    expect(await admin('operator', 'remove', name)).to.include({ name });
  });

  it('audit list gives the newest entries, the newest first', async () => {
    for (let i = 0; i < 201; i++) await admin('account', 'entitle', '--account', account, '--algos', 'all');
    await admin('account', 'create', 'newest');
    const entries = z
      .array(z.looseObject({ action: z.string() }))
      .parse(await admin('audit', 'list', '--limit', '202'));
    expect(entries).to.have.length(202);
    expect(entries[0]).to.include({ actor: 'admin command', action: 'account created', subject: 'newest' });
    expect(entries[201]).to.deep.include({ action: 'account entitled', account_id: account });
    expect(await admin('audit', 'list')).to.have.length(100);
    expect(await refused('audit', 'list', '--limit', '0')).to.contain('a number from 1');
  });

  describe('user export', () => {
    let folder: string;
    before(async () => {
      folder = await mkdtemp(join(tmpdir(), 'export-'));
    });
    after(() => rm(folder, { recursive: true }));

    it('writes the keys, sessions, insights, beats and audit entries of one user to a new private file', async () => {
      const file = join(folder, 'ann.jsonl');
      const { id } = Identified.parse(await admin('account', 'create', 'exported'));
      const keys = [];
      for (const user of ['ann', 'bob', 'joann'])
        keys.push(Identified.parse(await admin('key', 'issue', '--account', id, '--user', user)));
      const at = clock.now();
      const sessions = ['ann', 'bob', null].map((user) => sampleSession({ accountId: id, user, startedAt: at }));
      for (const session of sessions) {
        await store.openSession(session);
        const insights = Array.from({ length: 600 }, (_, i) => sampleInsight(session, at + i, at + i));
        await store.commit([partOf(session, insights, null, [sampleBlock(at)])]);
      }
      const words = ['user', 'export', '--account', 'exported', '--user', 'ann', file];
      expect(await admin(...words)).to.deep.equal({
        ...{ account_id: id, user: 'ann', file },
        ...{ keys: 1, sessions: 1, insights: 600, beats: 20 },
      });
      const text = await readFile(file, 'utf8');
      const lines = text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line));
      const of = (kind: string) => lines.flatMap((line) => line[kind] ?? []);
      expect(of('key').map((key) => key.id)).to.deep.equal([keys[0]?.id]);
      expect(text).not.to.contain(String(keys[0]?.key));
      expect(of('session').map((session) => session.id)).to.deep.equal([sessions[0]?.id]);
      expect(new Set(of('insight').map((insight) => insight.session_id))).to.deep.equal(new Set([sessions[0]?.id]));
      const { beats } = sampleBlock(at);
      expect(of('beat')).to.deep.equal(beats.map((beat) => ({ session_id: sessions[0]?.id, ...beat })));
      expect(of('audit').map(({ action }) => action)).to.deep.equal(['key issued']);
      expect((await stat(file)).mode & 0o777).to.equal(0o600);
      expect(await refused(...words)).to.contain('exists already');
      expect(await readFile(file, 'utf8')).to.equal(text);
      const { rows } = await store.auditLog({ limit: 1, cursor: null });
      expect(rows[0]).to.include({ action: 'user exported', accountId: id, subject: 'ann' });
    });

    it('leaves no file if the account has nothing of the user', async () => {
      const file = join(folder, 'eve.jsonl');
      const words = ['user', 'export', '--account', account, '--user', 'nobody', file];
      expect(await refused(...words)).to.contain('no key and no session of the user "nobody"');
      expect(existsSync(file)).to.equal(false);
    });
  });

  it('records each change and its author in the audit log', async () => {
    const { id } = Identified.parse(await admin('account', 'create', 'audited'));
    const { id: keyId, last_four } = Identified.parse(await admin('key', 'issue', '--account', id, '--user', 'ann'));
    await admin('key', 'revoke', keyId);
    await admin('account', 'entitle', '--account', id, '--algos', 'spo2');
    const { rows } = await store.auditLog({ limit: 4, cursor: null });
    expect(rows.map(({ actor, action, accountId }) => [actor, action, accountId])).to.deep.equal([
      ['admin command', 'account entitled', id],
      ['admin command', 'key revoked', id],
      ['admin command', 'key issued', id],
      ['admin command', 'account created', id],
    ]);
    expect(rows[1]?.subject).to.match(new RegExp(`^svc_.{4}…${last_four} of ann$`));
  });

  it('refuses unknown and missing commands, options and arguments', async () => {
    expect(await refused('acount')).to.contain("unknown command 'acount'");
    expect(await refused('account', 'lst')).to.contain("unknown command 'lst'");
    expect(await refused('account', 'list', '--nope')).to.contain("unknown option '--nope'");
    expect(await refused('account', 'list', 'extra')).to.contain('too many arguments');
    expect(await refused('account', 'create')).to.contain("missing required argument 'NAME'");
    expect(await refused('key', 'issue')).to.contain("required option '--account <ID>' not specified");
    expect(await refused('account', 'entitle', '--account', account)).to.contain("'--algos <SLUG,...>' not specified");
  });
});
