import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { expect } from 'chai';
import { Redis } from 'ioredis';
import { silentLog } from '../../process/log.fixture.js';
import type { Log } from '../../process/log.js';
import { ManualClock } from '../../process/manual-clock.js';
import { RedisConnection } from './connection.js';
import { startRedis, type TestRedis } from './test-server.js';

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
    return `redis://127.0.0.1:${(server.address() as AddressInfo).port}`;
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
