import { messageOf } from '@device-insights/fanout/platform/message-of';
import type { Command } from 'commander';

/** Runs a command as the arguments of the process say; an error's message is printed, and makes the exit code 1 if none is set. */
export function runCommand(command: Command): void {
  command.parseAsync().catch((error: unknown) => {
    console.error(messageOf(error));
    process.exitCode ??= 1;
  });
}
