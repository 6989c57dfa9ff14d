import { CommanderError } from 'commander';
import { adminCommand, type Perform } from '../admin/command.js';
import { ALGORITHMS } from '../analysis/registry.js';
import { systemClock } from '../clock.js';
import { processConfig } from '../config.js';
import { openStore } from '../store/open.js';

const perform: Perform = async (task) => {
  const store = await openStore(processConfig(), systemClock);
  try {
    console.log(JSON.stringify(await task({ store, algorithms: ALGORITHMS, clock: systemClock })));
  } finally {
    await store.close();
  }
};

/** One line, whatever it was. */
function line(error: unknown): string {
  if (error instanceof CommanderError && error.code === 'commander.help') return 'say what to do: see admin --help';
  return (error instanceof Error ? error.message : String(error)).replace(/\s+/g, ' ');
}

adminCommand(perform)
  .parseAsync()
  .catch((error: unknown) => {
    if (error instanceof CommanderError && error.exitCode === 0) return; // help was asked for, and printed
    console.error(line(error));
    process.exitCode = 1;
  });
