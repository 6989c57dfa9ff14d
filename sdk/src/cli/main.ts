#!/usr/bin/env node
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { DeviceInsights } from '../client.js';
import { ClosedError } from '../socket/reconnection.js';
import { Arguments, UsageError } from './arguments.js';
import type { Command, Surroundings } from './command.js';
import { completionCommand } from './completion-command.js';
import { exportCommand } from './export-command.js';
import { simulateCommand, streamCommand } from './stream-command.js';
import { tailCommand } from './tail-command.js';

const COMMON = { url: { type: 'string' }, key: { type: 'string' }, help: { type: 'boolean', short: 'h' } } as const;
const COMMANDS: readonly Command[] = [
  simulateCommand,
  streamCommand,
  tailCommand,
  exportCommand,
  completionCommand(() => COMMANDS, COMMON),
];
const HELP = `device-insights COMMAND --url URL --key KEY [OPTIONS]

The environment variables DEVICE_INSIGHTS_URL and DEVICE_INSIGHTS_API_KEY can replace --url and --key.

${COMMANDS.map(({ usage }) => `  ${usage}`).join('\n\n')}`;

async function main([name, ...rest]: readonly string[]): Promise<void> {
  if (name === undefined || name === '--help' || name === '-h' || name === 'help') return console.log(HELP);
  if (name === '--version') return console.log(await version());
  const command = COMMANDS.find((known) => known.name === name);
  if (!command)
    throw new UsageError(`there is no command ${name}; commands are ${COMMANDS.map((known) => known.name).join(', ')}`);
  const args = new Arguments(rest, { ...COMMON, ...command.options });
  if (args.flag('help')) return console.log(command.usage);
  const extra = args.positionals[command.takes ?? 0];
  if (extra !== undefined) throw new UsageError(`${name} does not take "${extra}"; see ${name} --help`);
  await command.run(args, surroundings(args));
}

async function version(): Promise<string> {
  const manifest = await readFile(new URL('../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(manifest) as { version: string }).version;
}

function surroundings(args: Arguments): Surroundings {
  return {
    get client() {
      return clientOf(args);
    },
    print,
    tell: (line) => console.error(line),
    stop: stopOnSignals(),
  };
}

/** @throws UsageError if the service's address or the key is missing */
function clientOf(args: Arguments): DeviceInsights {
  const baseUrl = args.text('url') ?? process.env.DEVICE_INSIGHTS_URL;
  const apiKey = args.text('key') ?? process.env.DEVICE_INSIGHTS_API_KEY;
  if (!baseUrl) throw new UsageError("give the service's address: --url http://localhost:8080, or DEVICE_INSIGHTS_URL");
  if (!apiKey) throw new UsageError('give an API key: --key svc_…, or DEVICE_INSIGHTS_API_KEY');
  return new DeviceInsights({ baseUrl, apiKey });
}

async function print(line: string | Uint8Array): Promise<void> {
  if (!process.stdout.write(typeof line === 'string' ? `${line}\n` : line)) await once(process.stdout, 'drain');
}

/** Aborts at the first Ctrl-C; the second one ends the process at once. */
function stopOnSignals(): AbortSignal {
  const abort = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => abort.abort());
  return abort.signal;
}

/** Exit code 2 for wrong usage, 1 for everything else. */
function fail(error: unknown): void {
  console.error(error instanceof Error ? error.message : error);
  if (error instanceof ClosedError && error.code === 4001)
    console.error('Check that the key is correct and not revoked or expired.');
  process.exitCode = error instanceof UsageError || error instanceof RangeError || error instanceof TypeError ? 2 : 1;
}

// If the reader of the output closes it (`| head`), that is not a failure.
process.stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
  if (code === 'EPIPE') process.exit(0);
  console.error(`the output could not be written: ${message}`);
  process.exit(1);
});
main(process.argv.slice(2)).catch(fail);
