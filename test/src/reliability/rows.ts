import { closeSync, fstatSync, openSync, statSync, truncateSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { FIRST, type Setup, type Site } from './site.js';

/** One fault of the matrix. */
export interface Row {
  readonly id: string;
  readonly fault: string;
  readonly setup: Setup;
  /**
   * The required health of the first gateway during the fault: `down` is false or no answer, `either` if the fault may
   * be too short to be seen.
   */
  readonly health: 'ok' | 'down' | 'either';
  /** Preparation, under the same load. */
  readonly prepare?: (site: Site) => Promise<void>;
  /** Causes the fault and, if it is temporary, ends it; `ms` is its duration, if it has one. */
  readonly strike: (site: Site, ms: number) => Promise<void>;
  /** The fault destroys the store: stored data cannot be read again, so only health is checked. */
  readonly losesStore?: true;
  /** Time stamps of this row cannot be compared with the test's clock. */
  readonly clockSteps?: true;
}

const HOUR_MS = 3_600_000;
const DATABASE = 'device-insights.db';
/** Of SQLite's file, bytes. */
const PAGE = 4096;

type Stoppable = { freeze(frozen: boolean): void };

const frozen = async (process: Stoppable, ms: number) => {
  process.freeze(true);
  try {
    await setTimeout(ms);
  } finally {
    process.freeze(false);
  }
};

const failPoint = (site: Site, data: Record<string, unknown>, mode: unknown = 'alwaysOn') =>
  site.mongo.command({ configureFailPoint: 'failCommand', mode, data });

/** All writes fail with this for a while. */
const failing = async (site: Site, ms: number, how: Record<string, unknown>) => {
  const failCommands = ['insert', 'update', 'findAndModify', 'commitTransaction', 'find'];
  await failPoint(site, { failCommands, ...how });
  await setTimeout(ms);
  await failPoint(site, {}, 'off');
};

/** A gateway that ends merges the log of its store into the database, which may be nearly empty before that. */
const folded = (site: Site) => site.gateway.restart('SIGTERM');

function overwrite(file: string, from: number): void {
  const handle = openSync(file, 'r+');
  const bytes = fstatSync(handle).size - from;
  writeSync(handle, Buffer.alloc(bytes, 0xa5), 0, bytes, from);
  closeSync(handle);
}

/** The fault matrix. Tests and the command run the same rows, with other numbers. */
export const ROWS: readonly Row[] = [
  {
    id: 'gateway-kill',
    fault: 'gateway: kill -9, started again',
    setup: 'one',
    health: 'down',
    strike: (site) => site.gateway.restart('SIGKILL'),
  },
  {
    id: 'gateway-stop',
    fault: 'gateway: SIGSTOP',
    setup: 'one',
    health: 'down',
    strike: (site, ms) => frozen(site.gateway, ms),
  },
  {
    id: 'gateway-restart',
    fault: 'gateway: SIGTERM, started again',
    setup: 'one',
    health: 'down',
    strike: (site) => site.gateway.restart('SIGTERM'),
  },
  {
    id: 'gateway-kill-nodes',
    fault: 'gateway behind fan-out nodes: kill -9, started again',
    setup: 'nodes',
    health: 'down',
    strike: (site) => site.gateway.restart('SIGKILL'),
  },
  {
    id: 'node-kill',
    fault: 'fan-out node: kill -9, started again',
    setup: 'nodes',
    health: 'ok',
    strike: (site) => site.node.restart('SIGKILL'),
  },
  {
    id: 'node-stop',
    fault: 'fan-out node: SIGSTOP',
    setup: 'nodes',
    health: 'ok',
    strike: (site, ms) => frozen(site.node, ms),
  },
  {
    id: 'node-restart',
    fault: 'fan-out node: SIGTERM, started again',
    setup: 'nodes',
    health: 'ok',
    strike: (site) => site.node.restart('SIGTERM'),
  },
  {
    id: 'redis-kill',
    fault: 'Redis: kill -9, started again after the stop',
    setup: 'nodes',
    health: 'down',
    strike: async ({ redis }, ms) => {
      await redis.kill();
      await setTimeout(ms);
      await redis.restart();
    },
  },
  {
    id: 'redis-stop',
    fault: 'Redis: SIGSTOP',
    setup: 'nodes',
    health: 'down',
    strike: ({ redis }, ms) => frozen(redis, ms),
  },
  {
    id: 'redis-restart',
    fault: 'Redis: started again at once, empty',
    setup: 'nodes',
    health: 'either',
    strike: async ({ redis }) => {
      await redis.kill();
      await redis.restart();
    },
  },
  {
    id: 'mongo-kill',
    fault: 'MongoDB: kill -9, started again after the stop',
    setup: 'mongo',
    health: 'down',
    strike: async ({ mongo }, ms) => {
      await mongo.end('SIGKILL');
      await setTimeout(ms);
      await mongo.launch();
    },
  },
  {
    id: 'mongo-stop',
    fault: 'MongoDB: SIGSTOP',
    setup: 'mongo',
    health: 'down',
    strike: ({ mongo }, ms) => frozen(mongo, ms),
  },
  {
    id: 'mongo-restart',
    fault: 'MongoDB: SIGTERM, started again at once',
    setup: 'mongo',
    health: 'either',
    strike: async ({ mongo }) => {
      await mongo.end('SIGTERM');
      await mongo.launch();
    },
  },
  {
    id: 'mongo-not-primary',
    fault: 'MongoDB: no primary (failCommand, code 10107)',
    setup: 'mongo',
    health: 'down',
    strike: (site, ms) => failing(site, ms, { errorCode: 10107 }),
  },
  {
    id: 'mongo-hang-up',
    fault: 'MongoDB: hangs up on every command (failCommand, closeConnection)',
    setup: 'mongo',
    health: 'down',
    strike: (site, ms) => failing(site, ms, { closeConnection: true }),
  },
  {
    id: 'mongo-step-down',
    fault: 'MongoDB: replSetStepDown',
    setup: 'mongo',
    health: 'either',
    strike: async ({ mongo }) => {
      await mongo.command({ replSetStepDown: 1, force: true }).catch((error: Error) => {
        if (!/closed|network|socket|reset/i.test(error.message)) throw error; // A real server closes all connections.
      });
    },
  },
  {
    id: 'disk-full',
    fault: 'disk full, then relieved',
    setup: 'disk',
    health: 'down',
    strike: async ({ disk }, ms) => {
      disk.fill();
      await setTimeout(ms);
      disk.relieve();
    },
  },
  {
    id: 'database-overwritten',
    fault: 'database overwritten under the running service',
    setup: 'one',
    health: 'down',
    losesStore: true,
    prepare: folded,
    strike: async ({ dataDir }) => overwrite(join(dataDir, DATABASE), 0),
  },
  {
    id: 'database-truncated',
    fault: 'database cut to half under the running service',
    setup: 'one',
    health: 'down',
    losesStore: true,
    prepare: folded,
    strike: async ({ dataDir }) => truncateSync(join(dataDir, DATABASE), statSync(join(dataDir, DATABASE)).size / 2),
  },
  {
    id: 'database-pages',
    fault: 'database overwritten but for its first page, gateway killed and started',
    setup: 'one',
    health: 'down',
    losesStore: true,
    prepare: folded,
    strike: async ({ dataDir, gateway }) => {
      overwrite(join(dataDir, DATABASE), PAGE);
      await gateway.restart('SIGKILL').catch(() => {}); // It may refuse to start, which also reports the fault.
    },
  },
  {
    id: 'clock-back',
    fault: 'wall clock back by 1 h',
    setup: 'clock',
    health: 'ok',
    clockSteps: true,
    strike: async ({ clock }) => clock.step(-HOUR_MS),
  },
  {
    id: 'clock-forward',
    fault: 'wall clock forward by 1 h',
    setup: 'clock',
    health: 'ok',
    clockSteps: true,
    strike: async ({ clock }) => clock.step(HOUR_MS),
  },
  {
    id: 'pair-kill',
    fault: 'one of two gateways: kill -9; its devices go to the other',
    setup: 'pair',
    health: 'down',
    strike: async ({ gateway }) => {
      await gateway.end('SIGKILL');
    },
  },
  {
    id: 'pair-kill-commit',
    fault: 'one of two gateways: kill -9 during a commit; its devices go to the other',
    setup: 'pair',
    health: 'either',
    strike: async (site) => {
      await failPoint(site, { failCommands: ['insert'], blockConnection: true, blockTimeMS: 1500, appName: FIRST });
      await setTimeout(1200); // Each second has readings: by now a commit waits.
      await site.gateway.end('SIGKILL');
      await failPoint(site, {}, 'off');
    },
  },
  {
    id: 'pair-stop',
    fault: 'one of two gateways: SIGSTOP',
    setup: 'pair',
    health: 'down',
    strike: ({ gateway }, ms) => frozen(gateway, ms),
  },
  {
    id: 'pair-term',
    fault: 'one of two gateways: SIGTERM; its devices go to the other',
    setup: 'pair',
    health: 'down',
    strike: async ({ gateway }) => {
      await gateway.end('SIGTERM');
    },
  },
];
