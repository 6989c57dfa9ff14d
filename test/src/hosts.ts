import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findRedisServer, freePort } from '@device-insights/fanout/test-redis';
import { eventually } from './eventually.js';
import { temporaryFolder } from './running.js';
import { collect, ended, fileOf, registered, replaced } from './server-process.js';

const FOLDER = 'gateway/deploy/hosts';
const PLACE = '/etc/device-insights';

/** A file for several hosts. */
export const hostFile = (name: string) => readFileSync(fileOf(`${FOLDER}/${name}`), 'utf8');

/** The Redis of the data hosts, with its own configuration: TLS, and a password for each role. */
export class SecureRedis {
  private constructor(
    private readonly child: ChildProcess,
    private readonly folder: ReturnType<typeof temporaryFolder>,
    readonly port: number,
    private readonly said: () => string,
  ) {}

  /** Only the folder, the port and the passwords differ from the files. */
  static async start(passwords: Readonly<Record<'gateway' | 'fanout', string>>): Promise<SecureRedis> {
    const folder = temporaryFolder();
    certify(folder.path);
    const port = await freePort();
    const hash = (text: string) => createHash('sha256').update(text).digest('hex');
    const acl = hostFile('users.acl')
      .replace('SHA256_OF_GATEWAY_PASSWORD', hash(passwords.gateway))
      .replace('SHA256_OF_FANOUT_PASSWORD', hash(passwords.fanout));
    writeFileSync(join(folder.path, 'users.acl'), acl);
    const here = { [`${PLACE}/tls`]: folder.path, [PLACE]: folder.path, 'tls-port 6379': `tls-port ${port}` };
    const file = join(folder.path, 'redis.conf');
    writeFileSync(file, replaced(hostFile('redis.conf'), here));
    const child = registered(spawn(findRedisServer(), [file, '--bind', '127.0.0.1', '--dir', folder.path]));
    const outputs = [collect(child, 'stdout'), collect(child, 'stderr')];
    const log = () => outputs.map((output) => output()).join('');
    await eventually('Redis is ready', () => {
      if (child.exitCode !== null) throw new Error(log());
      return log().includes('Ready to accept connections');
    });
    return new SecureRedis(child, folder, port, log);
  }

  /** What it has logged. */
  get log(): string {
    return this.said();
  }

  /** The certificate of the authority, for NODE_EXTRA_CA_CERTS. */
  get authority(): string {
    return join(this.folder.path, 'ca.crt');
  }

  async stop(): Promise<void> {
    await ended(this.child, 'SIGKILL');
    this.folder.remove();
  }
}

/** Makes an authority, and a certificate of a host, with the commands of the handbook. */
function certify(folder: string): void {
  const script = /```\n(openssl[^`]*)```/.exec(readFileSync(fileOf('gateway/deploy/README.md'), 'utf8'))?.[1];
  if (!script) throw new Error('the handbook has no commands for certificates');
  const local = script.replace('ADDRESS=10.0.0.11', 'ADDRESS=127.0.0.1');
  execFileSync('sh', ['-e', '-c', local], { cwd: folder, stdio: 'pipe' });
}
