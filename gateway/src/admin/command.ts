import { VERSION } from '@device-insights/fanout/platform/version';
import { Command, InvalidArgumentError } from 'commander';
import { createAccount, entitleAccount, listAccounts } from './accounts.js';
import { listAudit } from './audit.js';
import type { AdminContext } from './context.js';
import { type DeviceChoice, deleteDevice, deleteDevices, listDevices } from './devices.js';
import { deleteAccount, deleteSession, eraseUser } from './erasure.js';
import { exportUser } from './export.js';
import { issueKey, listKeys, revokeKey, rotateKey } from './keys.js';
import { addOperator, listOperators, removeOperator, resetOperator } from './operators.js';
import { Refusal } from './refusal.js';

/** Runs one operation on the store and prints its result. */
export type Perform = (task: (context: AdminContext) => Promise<object>) => Promise<void>;

/** Tasks on the store's files, without opening the store. */
export interface FileTasks {
  backUp(file: string): Promise<void>;
  restore(file: string): Promise<void>;
  /** Reads a whole backup. */
  verify(file: string): Promise<void>;
  /** Reads the whole store. */
  verifyStore(): Promise<void>;
}

/** The operator's commands: accounts, keys, devices, the dashboard's operators, and backups. Faults in a call throw commander's error with one line. */
export function adminCommand(perform: Perform, files: FileTasks): Command {
  const admin = new Command('admin')
    .version(VERSION)
    .description(
      'Manages accounts, keys, devices, operators and backups, also while a service is running. Prints JSON.',
    )
    .addHelpText('after', '\nUses the store of the service: MONGODB_URI if it is set, otherwise DATA_DIR (./data).')
    .exitOverride()
    .showSuggestionAfterError(false)
    .configureOutput({ writeErr: () => {} });
  accountCommands(
    admin.command('account').description('create, list, entitle, delete: accounts, and what they are entitled to run'),
    perform,
  );
  keyCommands(admin.command('key').description('issue, revoke, rotate, list: API keys of an account'), perform);
  deviceCommands(admin.command('device').description('list, delete: devices that have streamed'), perform);
  operatorCommands(
    admin.command('operator').description('add, reset, list, remove: operators, who can sign in to the dashboard'),
    perform,
  );
  erasureCommands(admin, perform);
  admin
    .command('audit')
    .description('list: who changed what, sign-ins, and failed sign-ins')
    .command('list')
    .description('list the newest entries of the audit log, the newest first')
    .option('--limit <COUNT>', 'number of entries', countOf, 100)
    .action((o: { limit: number }) => perform((context) => listAudit(context, o.limit)));
  const backup = admin
    .command('backup')
    .argument('<FILE>')
    .description('copy the embedded store to a new file, also while a service is running')
    .action((file: string) => files.backUp(file));
  backup
    .command('verify <FILE>')
    .description('read a whole backup, and report whether it can be restored')
    .action((file: string) => files.verify(file));
  admin
    .command('restore <FILE>')
    .description('put a backup into a data directory that has no store; the service must not run on it')
    .action((file: string) => files.restore(file));
  admin
    .command('store')
    .description('verify: the embedded store')
    .command('verify')
    .description('read the whole store, also while a service is running, and report whether it is sound')
    .action(() => files.verifyStore());
  return admin;
}

function countOf(text: string): number {
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new InvalidArgumentError('It must be a number from 1 to 999999.');
  return Number(text);
}

const ACCOUNT = ['--account <ID>', 'id or name of the account'] as const;

function accountCommands(account: Command, perform: Perform): void {
  account
    .command('create <NAME>')
    .description('create an account, entitled to all algorithms')
    .action((name: string) => perform((context) => createAccount(context, name)));
  account
    .command('list')
    .description('list all accounts')
    .action(() => perform(listAccounts));
  account
    .command('delete <ACCOUNT>')
    .description(
      'delete an account, by its id or name, for good, with its keys, devices, sessions, insights and beats; the audit log stays',
    )
    .action((id: string) => perform((context) => deleteAccount(context, id)));
  account
    .command('entitle')
    .description('set the algorithms that sessions opened from now on run')
    .requiredOption(...ACCOUNT)
    .requiredOption('--algos <SLUG,...>', 'slugs separated by commas, or all')
    .action((o: { account: string; algos: string }) =>
      perform((context) => entitleAccount(context, o.account, o.algos)),
    );
}

function erasureCommands(admin: Command, perform: Perform): void {
  admin
    .command('session')
    .description('delete: a closed session, with its insights and beats')
    .command('delete <ID>')
    .description('delete a closed session for good, with its insights and beats')
    .action((id: string) => perform((context) => deleteSession(context, id)));
  const user = admin.command('user').description('export, erase: all data of one user');
  user
    .command('export <FILE>')
    .description(
      'write the keys of a user, its sessions with their insights and beats, and its audit entries to a new file of JSON lines',
    )
    .requiredOption(...ACCOUNT)
    .requiredOption('--user <U>', 'the user')
    .action((file: string, o: { account: string; user: string }) =>
      perform((context) => exportUser(context, o.account, o.user, file)),
    );
  user
    .command('erase')
    .description('delete the keys of a user, its sessions and their insights and beats, for good; the audit log stays')
    .requiredOption(...ACCOUNT)
    .requiredOption('--user <U>', 'the user')
    .action((o: { account: string; user: string }) => perform((context) => eraseUser(context, o.account, o.user)));
}

function keyCommands(key: Command, perform: Perform): void {
  key
    .command('issue')
    .description('issue a key; it is shown only this once')
    .requiredOption(...ACCOUNT)
    .option('--user <U>', "a user of the account: the key sees only that user's sessions")
    .option('--permissions <P,...>', "one or more of read, stream, manage (default: all; for a user's key read,stream)")
    .option('--label <TEXT>', 'what the key is for, up to 100 characters')
    .option('--expires <WHEN>', 'when the key expires: in 90m, 12h, 30d or 4w, or at an RFC 3339 time (default: never)')
    .action((o: { account: string; user?: string; expires?: string; permissions?: string; label?: string }) =>
      perform((context) => issueKey(context, o.account, { ...o, permissions: o.permissions?.split(',') })),
    );
  key
    .command('revoke <KEYID>')
    .description('revoke a key permanently; its open sockets are closed')
    .action((id: string) => perform((context) => revokeKey(context, id)));
  key
    .command('rotate <KEYID>')
    .description(
      'issue a key that replaces another one, which is revoked after an overlap; the new key is shown only this once',
    )
    .option('--overlap <TIME>', 'how long the old key stays valid: 90m, 12h, 30d or 4w', '24h')
    .action((id: string, o: { overlap: string }) => perform((context) => rotateKey(context, id, o.overlap)));
  key
    .command('list')
    .description('list the keys of an account, including revoked keys')
    .requiredOption(...ACCOUNT)
    .action((o: { account: string }) => perform((context) => listKeys(context, o.account)));
}

function deviceCommands(device: Command, perform: Perform): void {
  device
    .command('list')
    .description('list the devices of an account')
    .requiredOption(...ACCOUNT)
    .action((o: { account: string }) => perform((context) => listDevices(context, o.account)));
  device
    .command('delete [DEVICE_ID]')
    .description(
      'delete a device, so that its model can be deleted, or all that match the options; their sessions stay',
    )
    .requiredOption(...ACCOUNT)
    .option('--prefix <TEXT>', 'devices whose ids begin with this')
    .option('--since <WHEN>', 'devices that first connected at or after: 90m, 12h, 30d or 4w ago, or an RFC 3339 time')
    .option('--before <WHEN>', 'devices that first connected before')
    .action((id: string | undefined, { account, ...choice }: { account: string } & DeviceChoice) =>
      perform((context) => {
        if ((id === undefined) === (Object.keys(choice).length === 0))
          throw new Refusal('give either a DEVICE_ID, or at least one of --prefix, --since and --before');
        return id === undefined ? deleteDevices(context, account, choice) : deleteDevice(context, account, id);
      }),
    );
}

function operatorCommands(operator: Command, perform: Perform): void {
  operator
    .command('add <NAME>')
    .description('add an operator, who can sign in to the dashboard; the password is shown only this once')
    .option('--viewer', 'give read-only access')
    .action((name: string, o: { viewer?: true }) =>
      perform((context) => addOperator(context, name, o.viewer ? 'viewer' : 'operator')),
    );
  operator
    .command('reset <NAME>')
    .description('set a new password, shown only this once, and sign the operator out everywhere')
    .action((name: string) => perform((context) => resetOperator(context, name)));
  operator
    .command('list')
    .description('list all operators')
    .action(() => perform(listOperators));
  operator
    .command('remove <NAME>')
    .description('remove an operator, and sign them out everywhere')
    .action((name: string) => perform((context) => removeOperator(context, name)));
}
