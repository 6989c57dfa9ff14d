import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { fileOf } from './server-process.js';

/** The fields of a service of the compose file that the tests use. */
export interface ComposeService {
  readonly image?: string;
  readonly build?: { readonly context: string; readonly dockerfile: string };
  readonly user?: string;
  readonly restart?: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly healthcheck?: { readonly test?: readonly string[] };
  readonly command?: readonly string[];
  readonly deploy?: { readonly resources?: { readonly limits?: object } };
  readonly depends_on?: object;
  readonly volumes?: readonly string[];
  readonly ports?: readonly string[];
  readonly profiles?: readonly string[];
  readonly cap_drop?: readonly string[];
  readonly security_opt?: readonly string[];
}

interface ComposeFile {
  readonly services: Readonly<Record<string, ComposeService>>;
  readonly volumes: object;
}

/** docker-compose.yml, with its merge keys resolved. */
export function composeFile(): ComposeFile {
  return parse(readFileSync(fileOf('docker-compose.yml'), 'utf8'), { merge: true }) as ComposeFile;
}

/** The environment of a service, each `${NAME:-default}` replaced by its default. */
export function environmentOf(service: string): Record<string, string> {
  const entries = Object.entries(composeFile().services[service]?.environment ?? {});
  return Object.fromEntries(entries.map(([name, value]) => [name, value.replace(/\$\{\w+:-([^}]*)\}/g, '$1')]));
}

/** Runs the command of a service's health check unchanged, but against another `/readyz`; returns its exit code. */
export async function healthCheck(service: string, operationsUrl: string): Promise<number> {
  const [, program = '', ...words] = composeFile().services[service]?.healthcheck?.test ?? [];
  const args = words.map((word) => word.replace('http://127.0.0.1:9464', operationsUrl));
  const [code] = (await once(spawn(program, args), 'exit')) as [number];
  return code;
}

/** The sources of the packages that a build of the images uses: all except those that .dockerignore names. */
export function imageSources(): string[] {
  const rules = readFileSync(fileOf('.dockerignore'), 'utf8')
    .split('\n')
    .filter((line) => /^[^#]/.test(line));
  const isIgnored = (file: string) =>
    rules.reduce((ignored, rule) => (ignorePattern(rule).test(file) ? !rule.startsWith('!') : ignored), false);
  return ['dsp-wasm/src', 'fanout/src', 'gateway/src', 'sdk/src']
    .flatMap((folder) =>
      readdirSync(fileOf(folder), { recursive: true, encoding: 'utf8' }).map((file) => `${folder}/${file}`),
    )
    .filter((file) => file.endsWith('.ts') && !isIgnored(file));
}

/** A line of .dockerignore, which also covers everything below its path. */
function ignorePattern(rule: string): RegExp {
  const pattern = rule
    .replace(/^!/, '')
    .replaceAll('.', '\\.')
    .replaceAll(/\*\*\/|\*/g, (stars) => (stars === '*' ? '[^/]*' : '(?:.*/)?'));
  return new RegExp(`^${pattern}(/.*)?$`);
}

/** The variables that the gateway's configuration reads. */
export function gatewayVariables(): string[] {
  return matches('gateway/src/config.ts', /^ {4}([A-Z][A-Z_]+): /gm);
}

/** The variables that the fan-out node's configuration reads. */
export function nodeVariables(): string[] {
  return matches('fanout/src/config.ts', /^ {2}([A-Z][A-Z_]+): \[/gm);
}

function matches(file: string, pattern: RegExp): string[] {
  return [...readFileSync(fileOf(file), 'utf8').matchAll(pattern)].map(([, name = '']) => name);
}
