import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { CommanderError } from 'commander';
import { z } from 'zod';
import { hashKey, isKey } from '../keys.js';
import { ManualClock } from '../manual-clock.js';
import { openEmbeddedStore } from '../store/embedded/embedded.js';
import type { Store } from '../store/store.js';
import { adminCommand } from './command.js';
import { Refusal } from './refusal.js';
import type { Workplace } from './workplace.js';

const ALGORITHMS = ['hr-ppg', 'hr-ecg', 'spo2'].map((slug) => ({ slug }));
const NOWHERE = '11111111-2222-4333-8444-555555555555';
const Identified = z.looseObject({ id: z.string() });

describe('admin', () => {
  const clock = new ManualClock(Date.parse('2026-03-01T10:00:00.000Z'));
  let folder: string;
  let store: Store;
  let account: string;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'admin-'));
    store = await openEmbeddedStore(folder, clock);
    account = Identified.parse(await admin('account', 'create', 'clinic')).id;
  });
  after(async () => {
    await store.close();
    await rm(folder, { recursive: true });
  });

  /** Runs a command and gives what it prints. */
  async function admin(...words: string[]): Promise<unknown> {
    let printed: unknown;
    const place: Workplace = { store, algorithms: ALGORITHMS, clock };
    const command = adminCommand(async (task) => {
      printed = await task(place);
    });
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
      expect(await refused('account', 'create', 'clinic')).to.equal('there is an account named "clinic" already');
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
      expect(unknown).to.contain(`there is no account with the id "${NOWHERE}"`);
      for (const algos of ['hr-ppg,nope', '', 'hr-ppg,', 'ALL']) {
        expect(await refused('account', 'entitle', '--account', account, '--algos', algos)).to.contain('no algorithm');
      }
    });
  });

  describe('key', () => {
    it('issue makes a key, shown this once and kept as a hash', async () => {
      const made = Identified.extend({ key: z.string() }).parse(await admin('key', 'issue', '--account', account));
      expect(isKey(made.key)).to.equal(true);
      const { key, ...rest } = made;
      expect(rest).to.deep.equal({
        id: made.id,
        account_id: account,
        user: null,
        prefix: key.slice(0, 8),
        last_four: key.slice(-4),
        created_at: '2026-03-01T10:00:00.000Z',
        last_used_at: null,
        revoked_at: null,
      });
      expect(await store.keyByHash(hashKey(key))).to.deep.include({ id: made.id, accountId: account });
      expect(await admin('key', 'list', '--account', account)).to.deep.include(rest);
    });

    it('issue --user binds the key to a user', async () => {
      expect(await admin('key', 'issue', '--account', account, '--user', 'ann')).to.include({ user: 'ann' });
      expect(await refused('key', 'issue', '--account', account, '--user', '')).to.contain('the user must have');
    });

    it('revoke prints the whole key, and the first time stays', async () => {
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
      expect(await refused('key', 'issue', '--account', 'x')).to.contain('there is no account with the id "x"');
      expect(await refused('key', 'list', '--account', NOWHERE)).to.contain('there is no account');
      expect(await refused('key', 'revoke', NOWHERE)).to.contain('there is no key with the id');
    });
  });

  describe('device', () => {
    it('lists and deletes the devices of an account', async () => {
      const { id } = Identified.parse(await admin('account', 'create', 'devices'));
      const model = {
        id: NOWHERE,
        accountId: id,
        name: 'm',
        description: '',
        firmwareVersion: '',
        channels: [],
        spo2Curve: null,
        createdAt: 0,
        updatedAt: 0,
      };
      await store.addDeviceModel(model);
      await store.putDevice({ accountId: id, deviceId: 'band-1', deviceModelId: NOWHERE, createdAt: 1000 });
      const device = {
        account_id: id,
        device_id: 'band-1',
        device_model_id: NOWHERE,
        created_at: '1970-01-01T00:00:01.000Z',
      };
      expect(await admin('device', 'list', '--account', id)).to.deep.equal([device]);
      expect(await refused('device', 'delete', '--account', account, 'band-1')).to.contain('has no device "band-1"');
      expect(await admin('device', 'delete', '--account', id, 'band-1')).to.deep.equal(device);
      expect(await admin('device', 'list', '--account', id)).to.deep.equal([]);
      expect(await refused('device', 'delete', '--account', id, 'band-1')).to.contain('has no device');
      expect(await refused('device', 'list', '--account', NOWHERE)).to.contain('there is no account');
    });
  });

  it('refuses commands, options and arguments that it does not know or misses', async () => {
    expect(await refused('acount')).to.contain("unknown command 'acount'");
    expect(await refused('account', 'lst')).to.contain("unknown command 'lst'");
    expect(await refused('account', 'list', '--nope')).to.contain("unknown option '--nope'");
    expect(await refused('account', 'list', 'extra')).to.contain('too many arguments');
    expect(await refused('account', 'create')).to.contain("missing required argument 'NAME'");
    expect(await refused('key', 'issue')).to.contain("required option '--account <ID>' not specified");
    expect(await refused('account', 'entitle', '--account', account)).to.contain("'--algos <SLUG,...>' not specified");
  });
});
