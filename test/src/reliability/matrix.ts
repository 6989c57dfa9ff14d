import { eventually } from '../eventually.js';
import { KEY } from '../running.js';
import { Crowd, readStored } from './crowd.js';
import { HealthWatch } from './health-watch.js';
import type { Row } from './rows.js';
import { Impossible, Site } from './site.js';
import { median } from './slope.js';
import { counts, type Tally, tally, unseen } from './tally.js';

export interface MatrixScale {
  readonly devices: number;
  readonly subscribers: number;
  /** How long a stop lasts, ms. */
  readonly stopMs: number;
}

/**
 * Results of the first gateway's health: the time until it reported the fault, and until it was healthy again; null
 * means never.
 */
interface HealthFigures {
  readonly expected: Row['health'];
  readonly downAfterMs: number | null;
  readonly wellAfterMs: number | null;
}

/** A row of the page. */
export interface RowFigures extends MatrixScale {
  readonly id: string;
  readonly fault: string;
  readonly setup: string;
  /** Why it was not run; absent if it was. */
  readonly skipped?: string;
  readonly tally?: Tally;
  /**
   * Time from the end of the fault until all subscribers received the device again, over all devices; null means never.
   */
  readonly recovery?: { readonly p50Ms: number | null; readonly maxMs: number | null; readonly neverDevices: number };
  readonly codes?: { readonly apps: Record<string, number>; readonly devices: Record<string, number> };
  readonly framesRefused?: number;
  readonly health?: HealthFigures;
  /** Conditions that did not hold; empty if all did. */
  readonly failures: readonly string[];
}

/** Timeout for the service to recover, for its sessions to end, and for the last insights to arrive, ms. */
const RECOVERY_MS = 45_000;
const END_MS = 15_000;
const SETTLE_MS = 10_000;
/** Time within which health must report a fault, ms: an answer is reused for a second, and a commit may wait three. */
const TELL_MS = 10_000;

/** Number of consecutive checks that count as lasting. */
const SURE_LOOKS = 10;

/**
 * For each row puts a service under load, causes the fault, and counts the results. Successive rows of one set-up have
 * the same service as long as each passes and leaves it whole.
 */
export async function* runRows(rows: readonly Row[], scale: MatrixScale): AsyncGenerator<RowFigures> {
  let site: Site | null = null;
  try {
    for (const [n, row] of rows.entries()) {
      const { id, fault, setup } = row;
      const about = { id, fault, setup, ...scale };
      try {
        site ??= await Site.open(setup);
        const figures: RowFigures = { ...about, ...(await new Trial(row, site, scale).run()) };
        const isWhole: boolean =
          figures.failures.length === 0 && !row.losesStore && !row.clockSteps && site.gateways.every((it) => it.runs);
        if (!isWhole || rows[n + 1]?.setup !== setup) {
          await site.close();
          site = null;
        }
        yield figures;
      } catch (error) {
        const failures = error instanceof Impossible ? [] : [`${error}`, ...loggedBy(site)];
        await site?.close();
        site = null;
        yield { ...about, ...(error instanceof Impossible && { skipped: error.message }), failures };
      }
    }
  } finally {
    await site?.close();
  }
}

class Trial {
  readonly #failures: string[] = [];
  readonly #watches: readonly HealthWatch[];

  constructor(
    readonly row: Row,
    readonly site: Site,
    readonly scale: MatrixScale,
  ) {
    this.#watches = site.gateways.map(({ healthUrl }) => new HealthWatch(healthUrl));
  }

  async run(): Promise<Omit<RowFigures, 'id' | 'fault' | 'setup' | keyof MatrixScale>> {
    const crowd = await Crowd.gather(this.site, this.scale.devices, this.scale.subscribers);
    try {
      await this.#prepare(crowd);
      const struckAt = performance.now();
      await this.row.strike(this.site, this.scale.stopMs);
      const liftedAt = performance.now();
      return this.row.losesStore
        ? await this.#judgeLoss(struckAt, liftedAt)
        : await this.#judge(crowd, struckAt, liftedAt);
    } finally {
      for (const watch of this.#watches) watch.stop();
      crowd.disperse();
    }
  }

  async #prepare(crowd: Crowd): Promise<void> {
    await this.row.prepare?.(this.site);
    crowd.lookAgain();
    await eventually(
      'all is well before',
      () => crowd.isSeen && this.#watches.every(({ state }) => state === 'ok'),
      RECOVERY_MS,
    );
  }

  async #judge(crowd: Crowd, struckAt: number, liftedAt: number) {
    crowd.lookAgain();
    await this.#expect('every subscriber sees every device again', () => crowd.isSeen, RECOVERY_MS);
    const delays = crowd.delays(liftedAt);
    await this.#comeAndGo(crowd);
    await this.#expect('health is well again', () => this.#survivors.every(({ state }) => state === 'ok'), RECOVERY_MS);
    const health = this.#health(struckAt, liftedAt);
    this.#demand(await crowd.end(END_MS), 'sessions that did not end');
    const figures = tally(crowd, await this.#stored(crowd), this.row.clockSteps === true);
    this.#demand(figures.liveNotStored, 'live but not stored');
    this.#demand(figures.storedNotSeen, 'stored, not received, and no loss reported');
    this.#demand(figures.duplicates, 'duplicates');
    const recovery = {
      p50Ms: finite(median(delays) ?? Number.POSITIVE_INFINITY),
      maxMs: finite(Math.max(...delays)),
      neverDevices: never(delays),
    };
    const framesRefused = crowd.wearers.reduce((sum, { device }) => sum + device.counters.framesRefused, 0);
    const apps = counts(crowd.apps.flatMap(({ codes }) => codes));
    const devices = counts(crowd.wearers.flatMap(({ codes }) => codes));
    return { tally: figures, recovery, health, framesRefused, codes: { apps, devices }, failures: this.#failures };
  }

  /**
   * After the fault everything works as before: a device that lost its connection reconnects, a new one joins, and all
   * are received.
   */
  async #comeAndGo(crowd: Crowd): Promise<void> {
    crowd.wearers[0]?.drop();
    crowd.lookAgain();
    void crowd.join().catch(() => {}); // A device that cannot connect is not received.
    await this.#expect('one that comes back and one that is new are seen', () => crowd.isSeen, RECOVERY_MS);
  }

  /** The store is lost: health must report this, and continue to. */
  async #judgeLoss(struckAt: number, liftedAt: number) {
    const down = () => {
      const last = this.#first.samples.filter(({ at }) => at > liftedAt).slice(-SURE_LOOKS);
      return last.length === SURE_LOOKS && last.every(({ state }) => state !== 'ok');
    };
    await this.#expect('health says that the store is damaged', down, TELL_MS);
    const health = this.#health(struckAt, Number.POSITIVE_INFINITY);
    return { health: { ...health, wellAfterMs: null }, failures: this.#failures };
  }

  get #first(): HealthWatch {
    const [first] = this.#watches;
    if (!first) throw new Error('there is no gateway');
    return first;
  }

  /** Watches of the running gateways. */
  get #survivors(): readonly HealthWatch[] {
    return this.#watches.filter((_, n) => this.site.gateways[n]?.runs);
  }

  #health(struckAt: number, liftedAt: number): HealthFigures {
    const expected = this.row.health;
    const downAfterMs = this.#first.firstAfter(struckAt, ['false', 'silent']);
    const told = this.#first.firstAfter(struckAt, ['false', 'silent'], Math.max(liftedAt, struckAt + 1000));
    if (expected === 'down' && told === null) this.#failures.push('health did not say that anything was wrong');
    if (expected === 'ok' && downAfterMs !== null)
      this.#failures.push(`health was false: ${reasonOf(this.#first, struckAt)}`);
    for (const watch of this.#watches.slice(1))
      if (watch.firstAfter(struckAt, ['false', 'silent']) !== null)
        this.#failures.push(`the health of the other gateway: ${reasonOf(watch, struckAt)}`);
    return { expected, downAfterMs, wellAfterMs: this.#first.wellAfter(liftedAt) };
  }

  /** All stored data, once the connected subscribers have received the last of them. */
  async #stored(crowd: Crowd) {
    const reader = this.site.gateways.find((gateway) => gateway.runs) ?? this.site.gateway;
    const stored = await readStored(reader.url, KEY);
    const steps = this.row.clockSteps === true;
    await eventually(
      'the last insights have come',
      () => crowd.apps.every(({ connections, current }) => current && unseen(connections, stored, steps) === 0),
      SETTLE_MS,
    ).catch(() => {}); // Insights that did not arrive are counted.
    return stored;
  }

  /** Records a condition that does not hold. */
  async #expect(what: string, look: () => boolean, ms: number): Promise<void> {
    await eventually(what, look, ms).catch((error: Error) => this.#failures.push(error.message));
  }

  #demand(count: number, what: string): void {
    if (count > 0) this.#failures.push(`${count} ${what}`);
  }
}

/** The last error that each gateway logged. */
function loggedBy(site: Site | null): string[] {
  const errors = (site?.gateways ?? []).map(({ log }) => log.split('\n').findLast((line) => line.includes('"err":')));
  return errors.filter((line) => line !== undefined);
}

/** What the first answer that was not well said. */
function reasonOf(watch: HealthWatch, since: number): string {
  const { state, reason } = watch.samples.find(({ at, state }) => at >= since && state !== 'ok') ?? {};
  return `${state}, ${reason}`;
}

const finite = (ms: number) => (Number.isFinite(ms) ? Math.round(ms) : null);
const never = (delays: readonly number[]) => delays.filter((delay) => delay === Number.POSITIVE_INFINITY).length;
