import type { ConnectionStatus } from '../socket/connection.js';

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
