import type { DeviceInsights } from '../client.js';
import type { Arguments, OptionSpec } from './arguments.js';

/** The surroundings that a command may use. */
export interface Surroundings {
  /** Created at the first use. */
  readonly client: DeviceInsights;
  /** Writes a line of results; resolves when there is room for more. */
  print(line: string): Promise<void>;
  /** Writes a line for the person at the terminal, beside the results. */
  tell(line: string): void;
  /** Aborts at Ctrl-C. */
  readonly stop: AbortSignal;
}

export interface Command {
  readonly name: string;
  /** The command's line in the help. */
  readonly usage: string;
  readonly options: OptionSpec;
  /** Whether it takes a word that is no option. */
  readonly takesWord?: true;
  run(args: Arguments, surroundings: Surroundings): Promise<void>;
}
