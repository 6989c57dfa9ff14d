import type { DeviceInsights } from '../client.js';
import type { ConnectionStatus } from '../socket/connection.js';
import type { Arguments, OptionSpec } from './arguments.js';

/** The surroundings that a command may use. */
export interface Surroundings {
  /** Created at the first use. */
  readonly client: DeviceInsights;
  /** Writes a line of results, or bytes as they are; resolves when there is room for more. */
  print(line: string | Uint8Array): Promise<void>;
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
  /** Number of arguments beside the options. Default 0. */
  readonly takes?: number;
  run(args: Arguments, surroundings: Surroundings): Promise<void>;
}

/** A listener that reports the state of the connection to the person at the terminal. */
export function tellStatus(tell: (line: string) => void): (status: ConnectionStatus) => void {
  return (status) => {
    const line = statusLine(status);
    if (line) tell(line);
  };
}

/** The line for a state that should be reported. */
function statusLine({ state, error, nextTryAt }: ConnectionStatus): string | null {
  if (state === 'live') return 'connected';
  if (state === 'repairing') return 'connected again, reading what was missed';
  if (state !== 'waiting' || nextTryAt === null) return null;
  return `${error?.message}; trying again in ${(Math.max(0, nextTryAt - Date.now()) / 1000).toFixed(1)} s`;
}
