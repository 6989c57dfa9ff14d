import { systemClock } from '@device-insights/fanout/platform/clock';
import { messageOf } from '@device-insights/fanout/platform/message-of';
import { CommanderError } from 'commander';
import { adminCommand, type FileTasks, type Perform } from '../admin/command.js';
import { note } from '../admin/context.js';
import { Refusal } from '../admin/refusal.js';
import { CATALOGUE } from '../analysis/algorithms.js';
import { processConfig, systemUser } from '../config.js';
import { backUp, restore, verify, verifyStore } from '../store/embedded/backup.js';
import { openStore } from '../store/open.js';

const perform: Perform = async (task) => {
  const config = await processConfig();
  const store = await openStore(config, systemClock);
  try {
    const result = await task({
      store,
      algorithms: CATALOGUE,
      clock: systemClock,
      actor: `admin command of ${systemUser()}`,
    });
    process.stdout.write(`${JSON.stringify(result)}\n`);
  } finally {
    await store.close();
  }
};

const withFile = (run: typeof backUp, action: string) => async (file: string) => {
  await run(await embeddedFolder(), file);
  await perform(async (context) => {
    await note(context, action, null, file);
    return { file };
  });
};
const files: FileTasks = {
  backUp: withFile(backUp, 'backup made'),
  restore: withFile(restore, 'backup restored'),
  async verify(file) {
    await verify(file);
    process.stdout.write(`${JSON.stringify({ file, sound: true })}\n`);
  },
  async verifyStore() {
    const directory = await embeddedFolder();
    await verifyStore(directory);
    process.stdout.write(`${JSON.stringify({ directory, sound: true })}\n`);
  },
};

async function embeddedFolder(): Promise<string> {
  const { mongodbUri, dataDir } = await processConfig();
  if (mongodbUri === null) return dataDir;
  throw new Refusal('the store is MongoDB: use mongodump and mongorestore (gateway/deploy/README.md)');
}

/** The message of an error, in one line. */
function line(error: unknown): string {
  if (error instanceof CommanderError && error.code === 'commander.help')
    return 'a command is missing: see admin --help';
  return messageOf(error).replace(/\s+/g, ' ');
}

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') return;
  console.error(`the command was carried out, but its result could not be written: ${line(error)}`);
  process.exitCode = 1;
});
adminCommand(perform, files)
  .parseAsync()
  .catch((error: unknown) => {
    if (error instanceof CommanderError && error.exitCode === 0) return; // Help was requested, and has been printed.
    console.error(line(error));
    process.exitCode = 1;
  });
