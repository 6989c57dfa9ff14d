import { printFailure } from '@device-insights/fanout/platform/program';
import type { Command } from 'commander';

/** Runs a command as the arguments of the process say; an error's message is printed, and makes the exit code 1 if none is set. */
export function runCommand(command: Command): void {
  command.parseAsync().catch(failed);
}

/** Runs a command as `runCommand` does, and then ends the process, whatever it still has open. */
export function runAndExit(command: Command): void {
  command
    .parseAsync()
    .catch(failed)
    .finally(() => process.exit());
}

function failed(error: unknown): void {
  printFailure(error);
  process.exitCode ??= 1;
}

/**
 * Calls `stop` when the standard output takes no more. If its reader has closed it (`| head`), that is no failure; any
 * other cause is printed on stderr, and makes the exit code 1.
 */
export function followOutput(stop: () => void): void {
  process.stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
    if (code !== 'EPIPE' && process.exitCode === undefined) {
      console.error(`the output could not be written: ${message}`);
      process.exitCode = 1;
    }
    stop();
  });
}
