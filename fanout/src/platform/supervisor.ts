import { execFile } from 'node:child_process';
import type { Log } from './log.js';

/**
 * Tells systemd that this process is ready, where a unit of `Type=notify` has started it. Node cannot write to systemd's
 * socket, so systemd's own program does.
 */
export function tellSystemd(log: Pick<Log, 'warn'>): void {
  // biome-ignore lint/style/noProcessEnv: systemd sets it, nobody configures it
  if (!process.env.NOTIFY_SOCKET) return;
  execFile('systemd-notify', ['--ready', `--pid=${process.pid}`], (error) => {
    if (error) log.warn({ err: error }, 'systemd was not told that the process is ready');
  });
}
