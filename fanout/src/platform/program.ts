import { ConfigError } from './config-error.js';
import { messageOf } from './message-of.js';

/**
 * Runs a program as the options of its process say: `--help`, `--version`, or none, which starts it. A start that fails
 * ends the process with code 1, and the cause on stderr.
 */
export function runProgram(help: string, version: string, start: () => Promise<void>): void {
  const option = process.argv[2];
  if (option === '--version') console.log(version);
  else if (option === '--help' || option === '-h') console.log(help);
  else if (option !== undefined) fail(new Error(`there is no option ${option}; see --help`));
  else start().catch(fail);
}

/** Stops a program, once, when its process is asked to end, and then ends the process. */
export function stopOnSignal(stop: () => Promise<void>): void {
  let isAsked = false;
  const asked = () => {
    if (!isAsked) stop().then(() => process.exit(0), fail);
    isAsked = true;
  };
  process.on('SIGTERM', asked); // A supervisor may repeat it; the drain continues.
  process.on('SIGHUP', asked); // The terminal has closed.
  process.once('SIGINT', asked); // A second Ctrl-C ends the process at once.
}

/** Ends the process with code 1, and the cause on stderr. */
export function fail(error: unknown): never {
  printFailure(error);
  process.exit(1);
}

/** Prints the cause of a failure on stderr; the faults of a configuration in a line each. */
export function printFailure(error: unknown): void {
  if (error instanceof ConfigError) for (const fault of error.faults) console.error(`configuration: ${fault}`);
  else console.error(messageOf(error));
}
