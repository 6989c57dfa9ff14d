import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { freePort } from '@device-insights/fanout/test-redis';
import { secantusProgram } from '@device-insights/gateway/test-mongo';
import { adminCommand } from '@device-insights/gateway/test-mongo-command';
import { eventually } from '../eventually.js';
import { temporaryFolder } from '../running.js';
import { ended, registered } from '../server-process.js';

/**
 * SecantusDB instead of MongoDB, as a process that can be killed, stopped and started again on the same files and port.
 * It syncs each commit, as MongoDB does for a majority write; without that it loses acknowledged writes when it is
 * killed.
 */
export class MongoServer {
  readonly #folder = temporaryFolder();
  #child: ChildProcess | null = null;

  private constructor(
    readonly port: number,
    private readonly program: string,
  ) {}

  static async start(): Promise<MongoServer> {
    const server = new MongoServer(await freePort(), await secantusProgram());
    await server.launch();
    return server;
  }

  get uri(): string {
    return `mongodb://127.0.0.1:${this.port}/reliability`;
  }

  /** Starts the process; resolves once it accepts commands. */
  async launch(): Promise<void> {
    const place = ['--host', '127.0.0.1', '--port', `${this.port}`, '--storage-path', join(this.#folder.path, 'data')];
    const options = ['--enable-test-commands', '--sync-on-commit', '--log-level', 'ERROR'];
    this.#child = registered(spawn(this.program, [...place, ...options], { stdio: 'ignore' }));
    await eventually('SecantusDB answers', async () => (await this.command({ ping: 1 })).ok === 1, 30_000);
  }

  async end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    const child = this.#child;
    this.#child = null;
    if (child) await ended(child, signal);
  }

  freeze(frozen: boolean): void {
    this.#child?.kill(frozen ? 'SIGSTOP' : 'SIGCONT');
  }

  /** An operator's command. */
  command(command: Record<string, unknown>): Promise<Record<string, unknown>> {
    return adminCommand(this.uri, command);
  }

  async close(): Promise<void> {
    await this.end('SIGKILL');
    this.#folder.remove();
  }
}
