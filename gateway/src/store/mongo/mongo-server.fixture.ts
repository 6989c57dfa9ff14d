import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:fs';
import { access, mkdtemp, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { freePort } from '@device-insights/fanout/test-redis';
import { MongoMemoryReplSet } from 'mongodb-memory-server-core';
import { createConnection } from 'mongoose';
import { CACHE, pythonProgram } from '../../python-program.fixture.js';

const SECANTUS = 'SecantusDB==0.7.0b3';
const DOWNLOADS = join(CACHE, 'mongodb');
const DOWNLOAD_HOST = 'https://fastdl.mongodb.org';
const DOWNLOAD_HOST_MS = 3000;
const START_MS = 60_000;
const INSTALL_MS = 300_000;

/** Limit of the calls to the tests' server, ms: on a busy machine it may be slow. */
export const UNHURRIED_MS = 60_000;

/** A MongoDB replica set for the tests of one process. */
export interface TestMongo {
  /** Address of a database of that name; tests choose unique names. */
  uri(database: string): string;
  stop(): Promise<void>;
}

/**
 * Gives the tests a MongoDB, the first available of: `MONGODB_TEST_URI` (a replica set with `enableTestCommands=1`,
 * without this database); a `mongod` on the PATH; one that mongodb-memory-server downloads; SecantusDB from PyPI.
 * Prints its choice and what it installs. If none works, rejects with the programs to install: tests are never skipped
 * for lack of a server. May take minutes the first time.
 */
export async function startTestMongo(): Promise<TestMongo> {
  const given = process.env.MONGODB_TEST_URI;
  if (given) return say('the server of MONGODB_TEST_URI', { uri: given, stop: async () => {} });
  const mongod = await onPath('mongod');
  if (mongod) return say(mongod, await memoryServer({ systemBinary: mongod }));
  const failures: string[] = [];
  for (const start of [downloaded, secantus])
    try {
      return await start();
    } catch (error) {
      failures.push(String(error).split('\n', 1).join());
    }
  throw new Error(
    `no MongoDB for the tests: install mongod, or python3 with python3-pip, or set MONGODB_TEST_URI (${failures.join('; ')})`,
  );
}

interface Started {
  readonly uri: string;
  stop(): Promise<void>;
}

function say(name: string, { uri, stop }: Started): TestMongo {
  console.log(`MongoDB of this test run: ${name}`);
  const [, base = uri, query = ''] = /^(mongodb(?:\+srv)?:\/\/[^/?]+)[^?]*(\?.*)?$/.exec(uri) ?? [];
  const options = new URLSearchParams(query);
  options.set('socketTimeoutMS', `${UNHURRIED_MS}`);
  return { uri: (database) => `${base}/${database}?${options}`, stop };
}

async function onPath(program: string): Promise<string | null> {
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    const file = join(folder, program);
    if (folder && (await isThere(file))) return file;
  }
  return null;
}

function isThere(program: string): Promise<boolean> {
  return access(program, constants.X_OK).then(
    () => true,
    () => false,
  );
}

async function memoryServer(binary: { systemBinary: string } | { downloadDir: string }): Promise<Started> {
  const server = await MongoMemoryReplSet.create({
    binary,
    replSet: {
      count: 1,
      storageEngine: 'wiredTiger',
      ip: '127.0.0.1',
      args: ['--setParameter', 'enableTestCommands=1'],
    },
  });
  return {
    uri: server.getUri(),
    stop: async () => {
      await server.stop();
    },
  };
}

async function downloaded(): Promise<TestMongo> {
  const there = await readdir(DOWNLOADS).catch(() => []);
  if (!there.some((file) => file.startsWith('mongod'))) {
    await fetch(DOWNLOAD_HOST, { method: 'HEAD', signal: AbortSignal.timeout(DOWNLOAD_HOST_MS) }).catch(() => {
      throw new Error(`${DOWNLOAD_HOST} is out of reach`);
    });
    console.log(`installing mongod into ${DOWNLOADS} (mongodb-memory-server)`);
  }
  const late = new AbortController();
  const tooLate = setTimeout(INSTALL_MS, null, { signal: late.signal }).then(() => {
    throw new Error(`${DOWNLOAD_HOST} is too slow`);
  });
  try {
    return say(
      'mongod of mongodb-memory-server',
      await Promise.race([memoryServer({ downloadDir: DOWNLOADS }), tooLate]),
    );
  } finally {
    tooLate.catch(() => {});
    late.abort();
  }
}

/** Path of SecantusDB's server, which is installed if it is missing. */
export function secantusProgram(): Promise<string> {
  return pythonProgram(SECANTUS, 'secantusd-py');
}

async function secantus(): Promise<TestMongo> {
  const program = await secantusProgram();
  const port = await freePort();
  const directory = await mkdtemp(join(tmpdir(), 'device-insights-mongo-'));
  const address = ['--host', '127.0.0.1', '--port', String(port), '--storage-path', join(directory, 'data')];
  const server = spawnTied(program, [...address, '--enable-test-commands', '--log-level', 'ERROR'], directory);
  const uri = `mongodb://127.0.0.1:${port}`;
  await answers(uri, server);
  return say(SECANTUS, { uri, stop: () => end(server) });
}

/**
 * Starts a program that ends, and whose folder is deleted, with this process, however it ends: the pipe to it breaks.
 */
function spawnTied(program: string, args: readonly string[], directory: string): ChildProcess {
  const script = 'd=$1; shift; "$@" & read -r _; kill -9 $! 2>/dev/null; wait; rm -rf "$d"';
  return spawn('sh', ['-c', script, 'sh', directory, program, ...args], { stdio: ['pipe', 'ignore', 'inherit'] });
}

async function end(server: ChildProcess): Promise<void> {
  const closed = once(server, 'close');
  server.stdin?.end();
  await closed;
}

/** Resolves when the server accepts commands. */
async function answers(uri: string, server: ChildProcess): Promise<void> {
  try {
    const connection = await createConnection(uri, { serverSelectionTimeoutMS: START_MS }).asPromise();
    await connection.close();
  } catch (error) {
    await end(server);
    throw new Error(`${SECANTUS} did not start`, { cause: error });
  }
}
