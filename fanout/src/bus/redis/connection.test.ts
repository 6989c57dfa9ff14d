import { spawn } from 'node:child_process';
import dns from 'node:dns';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { Redis } from 'ioredis';
import { portOf } from '../../platform/http-server.js';
import { silentLog } from '../../platform/log.fixture.js';
import type { Log } from '../../platform/log.js';
import { ManualClock } from '../../platform/manual-clock.fixture.js';
import { RedisConnection } from './connection.js';
import { findRedisServer, freePort, startRedis, type TestRedis } from './redis-server.fixture.js';

describe('a connection to Redis', function () {
  this.timeout(120_000); // The first run may have to install the server.
  let redis: TestRedis;
  let witness: Redis;
  let clock: ManualClock;
  let losses: number;
  let said: string[];
  let ends: (() => void | Promise<void>)[];

  before(async () => {
    redis = await startRedis();
    witness = new Redis(redis.port, '127.0.0.1');
  });
  after(async () => {
    witness.disconnect();
    await redis.stop();
  });
  beforeEach(() => {
    clock = new ManualClock();
    losses = 0;
    said = [];
    ends = [];
  });
  afterEach(async () => {
    for (const end of ends.reverse()) await end();
  });

  async function open(url: string): Promise<RedisConnection> {
    const warn: Log['warn'] = (fields) => {
      if ('err' in fields && fields.err instanceof Error) said.push(fields.err.message);
    };
    const connection = new RedisConnection(
      url,
      clock,
      { ...silentLog, warn },
      {
        ready: () => undefined,
        lost: () => (losses += 1),
        moved: () => undefined,
      },
    );
    ends.push(() => connection.close());
    await connection.connect();
    return connection;
  }

  /** A port that leads to whatever `port` returns at the time, with each text of the client as `change` makes it. */
  async function forward(port: () => number, change = (text: string) => text): Promise<string> {
    const server: Server = createServer((socket) => {
      const on = connect(port(), '127.0.0.1');
      socket.on('data', (data) => on.write(change(data.toString('latin1')), 'latin1'));
      on.pipe(socket);
      for (const [one, other] of [
        [socket, on],
        [on, socket],
      ] as const) {
        one.on('error', () => undefined);
        one.on('close', () => other.destroy());
      }
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    ends.push(() => {
      server.close();
    });
    return `redis://127.0.0.1:${portOf(server)}`;
  }

  /** The address of a sentinel that watches the server. */
  async function startSentinel(): Promise<string> {
    const port = await freePort();
    const directory = await mkdtemp(join(tmpdir(), 'sentinel-'));
    const file = join(directory, 'sentinel.conf'); // It has to be writable: a sentinel keeps its state there.
    await writeFile(file, `port ${port}\nbind 127.0.0.1\nsentinel monitor main 127.0.0.1 ${redis.port} 1\n`);
    const child = spawn(findRedisServer(), [file, '--sentinel'], { stdio: ['ignore', 'pipe', 'inherit'] });
    ends.push(async () => {
      child.kill('SIGKILL');
      await once(child, 'exit');
      await rm(directory, { recursive: true });
    });
    for await (const text of child.stdout.setEncoding('utf8')) if (text.includes('Sentinel ID')) break;
    return `redis://127.0.0.1:${port}`;
  }

  /** Moves time on until `condition` holds, in steps in which the answers of Redis come. */
  async function pass(condition: () => boolean): Promise<void> {
    while (!condition()) {
      clock.advance(100);
      for (let round = 0; round < 3; round++) await witness.ping();
    }
  }

  async function seconds(count: number): Promise<void> {
    const end = clock.monotonic() + 1000 * count;
    await pass(() => clock.monotonic() >= end);
  }

  it('stays while Redis refuses everything except what any user may ask', async () => {
    await witness.call('ACL', 'SETUSER', 'poor', 'on', '>secret', '-@all');
    const connection = await open(redis.url.replace('//', '//poor:secret@'));
    await seconds(10);
    expect([connection.isReady, losses, said]).to.deep.equal([true, 0, []]);
  });

  it('stays at a server that answers with an error when asked for its role', async () => {
    const asked = '*1\r\n$5\r\nHELLO\r\n';
    let times = 0;
    const url = await forward(
      () => redis.port,
      (text) => {
        if (text === asked) times += 1;
        return text.replace(asked, asked.replace('HELLO', 'OTHER'));
      },
    );
    const connection = await open(url);
    await seconds(10);
    expect(times).to.be.at.least(5);
    expect([connection.isReady, losses, said]).to.deep.equal([true, 0, []]);
  });

  it('tells why it cannot be used, and logs each cause once', async () => {
    const passwords = await startRedis();
    ends.push(() => passwords.stop());
    const admin = new Redis(passwords.port, '127.0.0.1');
    ends.push(() => admin.disconnect());
    const connection = await open(passwords.url.replace('//', '//node:first@'));
    expect(() => connection.client).to.throw('WRONGPASS');
    await admin.call('ACL', 'SETUSER', 'node', 'on', '>first', '+@all');
    await pass(() => connection.isReady);
    await admin.call('ACL', 'SETUSER', 'node', 'resetpass', '>second');
    await admin.client('KILL', 'USER', 'node');
    await pass(() => said.length === 3);
    await seconds(5);
    expect(said.map((cause) => cause.split(' ')[0])).to.deep.equal(['WRONGPASS', 'Socket', 'WRONGPASS']);
    expect(() => connection.client).to.throw('WRONGPASS');
  });

  it('tells that a server that accepts connections does not answer', async () => {
    const server = createServer((socket) => socket.on('error', () => undefined).resume()).listen(0, '127.0.0.1');
    await once(server, 'listening');
    ends.push(() => void server.close());
    const opening = open(`redis://127.0.0.1:${portOf(server)}`);
    await pass(() => said.length > 0);
    const connection = await opening;
    expect(said).to.deep.equal(['no answer to the handshake for 5000 ms']);
    expect(() => connection.client).to.throw('no answer to the handshake for 5000 ms');
  });

  it('tells why it cannot be used if its name has several addresses', async () => {
    const port = await freePort();
    const addresses = [
      { address: '127.0.0.1', family: 4 },
      { address: '::1', family: 6 },
    ];
    const found = (_name: string, _options: object, done: (error: null, all: object) => void) => done(null, addresses);
    const { lookup } = dns;
    Object.assign(dns, { lookup: found });
    ends.push(() => void Object.assign(dns, { lookup }));
    const connection = await open(`redis://redis.test:${port}`);
    for (const { address } of addresses) expect(() => connection.client).to.throw(`${address}:${port}`);
  });

  it('does not take a sentinel for a server', async () => {
    const connection = await open(await startSentinel());
    expect(() => connection.client).to.throw('this is a Redis Sentinel: give the address of the master');
  });

  it('leaves a server that has become a replica, for the one that has its address now', async () => {
    const other = await startRedis();
    ends.push(() => other.stop());
    let master = redis.port;
    const connection = await open(await forward(() => master));
    await seconds(5);
    expect(losses).to.equal(0);
    await witness.replicaof('127.0.0.1', other.port);
    try {
      await pass(() => losses === 1);
      await seconds(3);
      expect(connection.isReady).to.equal(false);
      expect(said).to.deep.equal(['the server is a replica, not the master']);
      master = other.port;
      await pass(() => connection.isReady);
      await seconds(5);
      expect(losses).to.equal(1);
    } finally {
      await witness.replicaof('NO', 'ONE');
    }
  });
});
