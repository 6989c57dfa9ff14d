import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '@device-insights/fanout/test-redis';
import { program } from './program.js';
import { collect, ended, fileOf, registered, replaced } from './server-process.js';

/** What a test replaces in the configuration of a proxy of the handbook. */
interface Place {
  readonly folder: string;
  readonly port: number;
}

interface Kind {
  readonly version: string;
  readonly file: string;
  /** Texts of the configuration, each of which must occur, and what a test has instead; beside the service's address. */
  readonly replaced: (place: Place) => Readonly<Record<string, string>>;
  /** Text around it. */
  readonly whole?: (place: Place) => { readonly file: string; readonly text: string };
  readonly check: (file: string) => readonly string[];
  readonly run: (file: string) => readonly string[];
}

/** The proxies with a configuration in the handbook. */
export const TLS_PROXIES: Readonly<Record<string, Kind>> = {
  nginx: {
    version: '1.22',
    file: 'nginx.conf',
    replaced: ({ folder, port }) => ({
      'listen 443': `listen 127.0.0.1:${port}`,
      '/etc/ssl/insights.crt': `${folder}/host.crt`,
      '/etc/ssl/insights.key': `${folder}/host.key`,
      '/var/log/nginx/': `${folder}/`,
    }),
    // As Debian's: requests are logged whole, unless a server says otherwise.
    whole: ({ folder }) => ({
      file: 'main.conf',
      text: `daemon off; pid ${folder}/pid; error_log ${folder}/main-error.log; events {}
        http { access_log ${folder}/main.log; ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
          .map((kind) => `${kind}_temp_path ${folder}/${kind};`)
          .join(' ')} include ${folder}/nginx.conf; }`,
    }),
    check: (file) => ['-t', '-q', '-c', file],
    run: (file) => ['-c', file],
  },
  caddy: {
    version: '2.6',
    file: 'Caddyfile',
    replaced: ({ folder, port }) => ({
      'insights.example.org {': `https://localhost:${port} {\n\ttls ${folder}/host.crt ${folder}/host.key`,
      '\n{\n': '\n{\n\tadmin off\n\tauto_https disable_redirects\n',
      '/var/log/caddy/': `${folder}/`,
    }),
    check: (file) => ['validate', '--adapter', 'caddyfile', '--config', file],
    run: (file) => ['run', '--adapter', 'caddyfile', '--config', file],
  },
  haproxy: {
    version: '2.6',
    file: 'haproxy.cfg',
    replaced: ({ folder, port }) => ({
      'bind :443': `bind 127.0.0.1:${port}`,
      '/etc/haproxy/insights.pem': `${folder}/host.pem`,
      'log /dev/log local0': 'log stdout format raw local0',
      '\tuser haproxy\n\tgroup haproxy\n': '',
    }),
    check: (file) => ['-c', '-q', '-f', file],
    run: (file) => ['-db', '-f', file],
  },
};

/** A proxy with TLS in front of a service. */
export interface TlsProxy {
  /** Host and port. */
  readonly host: string;
  /** All that it has written to its logs and its output. */
  log(): string;
  stop(): Promise<void>;
}

/** Checks a proxy's configuration of the handbook by its own command, and starts it in front of a service. */
export async function startTlsProxy(name: string, folder: string, service: string): Promise<TlsProxy> {
  const kind = TLS_PROXIES[name] as Kind;
  const place = { folder: join(folder, name), port: await freePort() };
  mkdirSync(place.folder);
  certify(place.folder);
  const given = readFileSync(fileOf(`gateway/deploy/proxies/${kind.file}`), 'utf8');
  const text = replaced(given, { '127.0.0.1:8080': service, ...kind.replaced(place) });
  const files = [{ file: kind.file, text }, ...(kind.whole ? [kind.whole(place)] : [])];
  for (const { file, text: content } of files) writeFileSync(join(place.folder, file), content);
  const path = join(place.folder, files.at(-1)?.file ?? '');
  const env = { ...process.env, HOME: place.folder, XDG_DATA_HOME: place.folder, XDG_CONFIG_HOME: place.folder };
  const command = program(name, kind.version);
  execFileSync(command, kind.check(path), { env, stdio: 'pipe' });
  const child = registered(spawn(command, kind.run(path), { env, stdio: ['ignore', 'pipe', 'pipe'] }), 'SIGTERM');
  const said = [collect(child, 'stdout'), collect(child, 'stderr')];
  return {
    host: `localhost:${place.port}`,
    log: () => {
      const logs = readdirSync(place.folder).filter((file) => file.endsWith('.log'));
      return [
        ...said.map((output) => output()),
        ...logs.map((file) => readFileSync(join(place.folder, file), 'utf8')),
      ].join('\n');
    },
    stop: async () => void (await ended(child, 'SIGTERM')),
  };
}

function certify(folder: string): void {
  const [crt, key] = [join(folder, 'host.crt'), join(folder, 'host.key')];
  const names = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
  const make = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '1', ...names, '-keyout', key, '-out', crt];
  execFileSync('openssl', make, { stdio: 'pipe' });
  writeFileSync(join(folder, 'host.pem'), readFileSync(crt, 'utf8') + readFileSync(key, 'utf8'));
}
