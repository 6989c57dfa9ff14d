import { startRedis, type TestRedis } from '@device-insights/fanout/test-redis';
import { type FakeTime, fakeTime } from '../fake-time.js';
import { type Running, temporaryFolder } from '../running.js';
import { Disk } from './disk.js';
import { MongoServer } from './mongo-server.js';
import { Place } from './place.js';

/**
 * Set-ups of the service: `one` gateway with the embedded store and its own subscriber sockets; `disk` and `clock` are
 * the same with a data directory on a small disk and with a wall clock that can be set; `nodes` a gateway with the
 * embedded store, Redis and two fan-out nodes; `mongo` one gateway over MongoDB; `pair` two gateways over MongoDB,
 * Redis and two fan-out nodes.
 */
export type Setup = 'one' | 'disk' | 'clock' | 'nodes' | 'mongo' | 'pair';

/** The name by which MongoDB knows the connections of the first gateway. */
export const FIRST = 'first';

/** Why a set-up is not possible on this machine. */
export class Impossible extends Error {
  override readonly name = 'Impossible';
}

/** A service under test, with all of its processes. */
export class Site {
  readonly #folder = temporaryFolder();
  readonly gateways: Place<Running>[] = [];
  readonly nodes: Place[] = [];
  #redis: TestRedis | null = null;
  #mongo: MongoServer | null = null;
  #disk: Disk | null = null;
  #clock: FakeTime | null = null;

  private constructor(readonly setup: Setup) {}

  /** @param more further environment variables of the gateways */
  static async open(setup: Setup, more: Readonly<Record<string, string>> = {}): Promise<Site> {
    const site = new Site(setup);
    try {
      await site.#open(more);
      return site;
    } catch (error) {
      await site.close();
      throw error;
    }
  }

  get gateway(): Place<Running> {
    return this.#there(this.gateways[0]);
  }

  /** The first of the fan-out nodes. */
  get node(): Place {
    return this.#there(this.nodes[0]);
  }

  get redis(): TestRedis {
    return this.#there(this.#redis);
  }

  get mongo(): MongoServer {
    return this.#there(this.#mongo);
  }

  get disk(): Disk {
    return this.#there(this.#disk);
  }

  get clock(): FakeTime {
    return this.#there(this.#clock);
  }

  /** Directory of the embedded store. */
  get dataDir(): string {
    return this.#disk?.path ?? this.#folder.path;
  }

  /** Addresses for subscribers. */
  get doors(): readonly Place[] {
    return this.nodes.length > 0 ? this.nodes : this.gateways;
  }

  async close(): Promise<void> {
    for (const place of [...this.gateways, ...this.nodes]) await place.close();
    await this.#redis?.stop();
    await this.#mongo?.close();
    this.#disk?.unmount();
    this.#clock?.remove();
    this.#folder.remove();
  }

  async #open(more: Readonly<Record<string, string>>): Promise<void> {
    const { setup } = this;
    if (setup === 'disk') this.#disk = mountedDisk();
    if (setup === 'clock') this.#clock = fakeTime();
    if (setup === 'mongo' || setup === 'pair') this.#mongo = await MongoServer.start();
    if (setup === 'nodes' || setup === 'pair') this.#redis = await startRedis();
    const bus = this.#redis ? { REDIS_URL: this.#redis.url } : {};
    const store = this.#mongo ? { MONGODB_URI: this.#mongo.uri } : { DATA_DIR: this.dataDir };
    const env = { ...bus, ...store, ...this.#clock?.env, ...more };
    const first = this.#mongo ? { MONGODB_URI: `${this.#mongo.uri}?appName=${FIRST}` } : {};
    this.gateways.push(await Place.gateway({ ...env, ...first }));
    if (setup === 'pair') this.gateways.push(await Place.gateway(env));
    if (this.#redis) this.nodes.push(await Place.node(bus), await Place.node(bus));
  }

  #there<T>(part: T | null | undefined): T {
    if (!part) throw new Error(`the set-up "${this.setup}" has no such part`);
    return part;
  }
}

function mountedDisk(): Disk {
  const disk = Disk.mount();
  if (!disk) throw new Impossible('a small disk can only be mounted by root');
  return disk;
}
