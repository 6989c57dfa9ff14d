import { Command } from 'commander';
import { createAccount, entitleAccount, listAccounts } from './accounts.js';
import { deleteDevice, listDevices } from './devices.js';
import { issueKey, listKeys, revokeKey } from './keys.js';
import type { Workplace } from './workplace.js';

/** Does one thing with the store and prints its result. */
export type Perform = (task: (place: Workplace) => Promise<object>) => Promise<void>;

/** The operator's commands: accounts, keys and devices. Faults in a call throw commander's error with one line. */
export function adminCommand(perform: Perform): Command {
  const admin = new Command('admin')
    .description('Manages accounts, keys and devices, also beside a running service. Prints JSON.')
    .addHelpText('after', '\nThe store is that of the service: MONGODB_URI, or else DATA_DIR (./data).')
    .exitOverride()
    .showSuggestionAfterError(false)
    .configureOutput({ writeErr: () => {} });
  accountCommands(
    admin.command('account').description('create, list, entitle: accounts, and what they are entitled to run'),
    perform,
  );
  keyCommands(admin.command('key').description('issue, revoke, list: API keys of an account'), perform);
  deviceCommands(admin.command('device').description('list, delete: devices that have streamed'), perform);
  return admin;
}

const ACCOUNT = ['--account <ID>', 'id of the account'] as const;

function accountCommands(account: Command, perform: Perform): void {
  account
    .command('create <NAME>')
    .description('make an account, entitled to all algorithms')
    .action((name: string) => perform((place) => createAccount(place, name)));
  account
    .command('list')
    .description('all accounts')
    .action(() => perform(listAccounts));
  account
    .command('entitle')
    .description('set which algorithms the sessions opened from now on run')
    .requiredOption(...ACCOUNT)
    .requiredOption('--algos <SLUG,...>', 'slugs with commas between them, or all')
    .action((o: { account: string; algos: string }) => perform((place) => entitleAccount(place, o.account, o.algos)));
}

function keyCommands(key: Command, perform: Perform): void {
  key
    .command('issue')
    .description('make a key; it is shown this once')
    .requiredOption(...ACCOUNT)
    .option('--user <U>', "a user of the account: the key sees that user's sessions alone")
    .action((o: { account: string; user?: string }) => perform((place) => issueKey(place, o.account, o.user)));
  key
    .command('revoke <KEYID>')
    .description('revoke a key for ever; its open sockets close')
    .action((id: string) => perform((place) => revokeKey(place, id)));
  key
    .command('list')
    .description('the keys of an account, revoked ones included')
    .requiredOption(...ACCOUNT)
    .action((o: { account: string }) => perform((place) => listKeys(place, o.account)));
}

function deviceCommands(device: Command, perform: Perform): void {
  device
    .command('list')
    .description('the devices of an account')
    .requiredOption(...ACCOUNT)
    .action((o: { account: string }) => perform((place) => listDevices(place, o.account)));
  device
    .command('delete <DEVICE_ID>')
    .description("delete a device's row, so that its model can be deleted; its sessions stay")
    .requiredOption(...ACCOUNT)
    .action((id: string, o: { account: string }) => perform((place) => deleteDevice(place, o.account, id)));
}
