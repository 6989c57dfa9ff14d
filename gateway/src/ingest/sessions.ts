import { randomUUID } from 'node:crypto';
import type { OpenAnalysis } from '../analysis/analysis.js';
import type { Clock } from '../clock.js';
import { CloseError } from '../errors.js';
import type { PublishedStream, Publisher } from '../publisher/publisher.js';
import type { LastInsights, Session, Store } from '../store/store.js';
import type { Admission } from './admission.js';
import type { Connection } from './connection.js';
import type { IngestLimits, Log } from './ingest.js';
import { NO_PROGRESS } from './intake.js';
import { LiveSession } from './session.js';
import type { Turns } from './turns.js';

export interface SessionsOptions {
  readonly store: Store;
  readonly publisher: Publisher;
  readonly openAnalysis: OpenAnalysis;
  readonly clock: Clock;
  readonly log: Log;
  /** This process, as owner of sessions. */
  readonly gateway: string;
  /** How long a session stays open without a connection, ms. */
  readonly graceMs: number;
  readonly limits: IngestLimits;
  readonly turns: Turns;
}

/** A session that a connection has been given. */
export interface Joined {
  readonly session: LiveSession;
  readonly resumed: boolean;
  /** What the device should send again, ms. */
  readonly replayMs: number;
}

/** What a device re-sends to a gateway that has no signal state of its session, ms. */
const REPLAY_MS = 60_000;
/** Device clocks that differ by less are taken as they are, ms. */
const MAX_CLOCK_OFFSET_MS = 1000;
/** A gateway is never taken for dead before this, ms: it beats every second, and may be late. */
const LEAST_SILENCE_MS = 5000;
/** Take-overs are asked for from this long before the last answer, ms: the clocks of processes differ. */
const LOOK_BACK_MS = 10_000;
const RETRY_MS = 500;
/** Tries to get a session which others change at the same time. */
const ATTEMPTS = 5;

/** The sessions that this gateway owns: opened, resumed, claimed from other gateways, closed. */
export class Sessions {
  readonly #options: SessionsOptions;
  readonly #byDevice = new Map<string, LiveSession>();
  readonly #byId = new Map<string, LiveSession>();
  /** Per device, the last of the connections that wait for their turn. */
  readonly #tails = new Map<string, Promise<unknown>>();
  #sweptAt: number;

  constructor(options: SessionsOptions) {
    this.#options = options;
    this.#sweptAt = options.clock.now();
  }

  all(): Iterable<LiveSession> {
    return this.#byId.values();
  }

  /**
   * Joins an admitted connection to its device's session, one connection after the other per device. Rejects with
   * `CloseError` where there is no room, and as the store does.
   */
  join(admission: Admission, connection: Connection): Promise<Joined> {
    const device = deviceKey(admission);
    const joined = (this.#tails.get(device) ?? Promise.resolve()).then(() => this.#join(admission, connection));
    const tail = joined
      .catch(() => undefined)
      .then(() => {
        if (this.#tails.get(device) === tail) this.#tails.delete(device);
      });
    this.#tails.set(device, tail);
    return joined;
  }

  /** What other gateways changed: sessions that they took, and those which dead ones left. Called once a second. */
  async sweep(): Promise<void> {
    await this.#loseTaken();
    await this.#closeOrphans();
  }

  async #join(admission: Admission, connection: Connection): Promise<Joined> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const joined = await this.#tryJoin(admission);
      if (!joined) continue;
      joined.session.attach(connection);
      return joined;
    }
    throw new CloseError('overloaded', 'other connections of this device are faster; try again');
  }

  /** Null where the store's row changed meanwhile, or an old session had to be closed first. */
  async #tryJoin(admission: Admission): Promise<Joined | null> {
    const row = await this.#options.store.openSessionOf(admission.accountId, admission.deviceId);
    const live = await this.#liveSession(admission, row);
    if (!row) return this.#open(admission);
    const same = row.user === admission.user && row.deviceModelId === admission.model.id;
    if (live) return same ? { session: live, resumed: true, replayMs: 0 } : this.#replace(live);
    if (await this.#isOrphan(row)) return this.#closeRow(row);
    const claimed = await this.#options.store.claimSession(row.id, row.epoch, this.#options.gateway, admission.at);
    if (!claimed) return null;
    return same ? this.#goOn(claimed) : this.#closeRow(claimed);
  }

  /** The session here, if it is that of the store's row. */
  async #liveSession(admission: Admission, row: Session | null): Promise<LiveSession | null> {
    const live = this.#byDevice.get(deviceKey(admission));
    if (live?.row.id === row?.id && live?.row.epoch === row?.epoch && live?.isOpen) return live;
    if (live && !live.isOpen) await live.gone;
    else live?.leave('takenOver');
    return null;
  }

  async #open(admission: Admission): Promise<Joined | null> {
    const { store } = this.#options;
    const account = await store.account(admission.accountId);
    if (!account) throw new CloseError('authenticationFailed');
    const row = this.#newRow(admission, account.algorithms);
    const session = this.#live(row, {});
    if (!session) throw new CloseError('overloaded', 'this gateway has no room for another session; try again');
    if (await this.#isOpened(row, session)) return { session, resumed: false, replayMs: 0 };
    session.leave('takenOver');
    return null;
  }

  async #isOpened(row: Session, session: LiveSession): Promise<boolean> {
    try {
      return await this.#options.store.openSession(row);
    } catch (error) {
      session.leave('overloaded');
      throw error;
    }
  }

  #newRow(admission: Admission, algorithms: readonly string[] | null): Session {
    const { accountId, user, deviceId, model, at } = admission;
    return {
      ...{ id: randomUUID(), accountId, user, deviceId, deviceModelId: model.id },
      ...{ status: 'open', startedAt: at, endedAt: null, gateway: this.#options.gateway, epoch: 1 },
      ...{ channels: model.channels, spo2Curve: model.spo2Curve, algorithms },
      progress: { ...NO_PROGRESS, clockShift: clockShift(admission) },
    };
  }

  /** Takes up a claimed session whose signal state is lost. */
  async #goOn(row: Session): Promise<Joined> {
    try {
      const session = this.#live(row, await this.#options.store.lastInsights(row.id));
      if (!session) throw new CloseError('overloaded', 'this gateway has no room for another session; try again');
      return { session, resumed: true, replayMs: REPLAY_MS };
    } catch (error) {
      // It is ours and nobody serves it: the device may come again within the time of grace.
      this.#options.clock.after(this.#options.graceMs, () => this.#closeSoon(row));
      throw error;
    }
  }

  /** Closes a session of another user scope or model at once. */
  async #replace(session: LiveSession): Promise<null> {
    session.connection?.close('takenOver');
    session.close();
    await session.gone;
    return null;
  }

  #live(row: Session, last: LastInsights): LiveSession | null {
    const { publisher, gateway, openAnalysis, turns, clock, limits, graceMs, log } = this.#options;
    let stream: PublishedStream | null = null;
    const analysis = openAnalysis({
      ...{ sessionId: row.id, deviceId: row.deviceId, channels: row.channels, spo2Curve: row.spo2Curve },
      ...{ algorithms: row.algorithms, firstInstant: row.progress.firstInstant, last },
      emit: (reading) => stream?.publish(reading),
    });
    if (!analysis) return null;
    const { id, accountId, user, epoch } = row;
    stream = publisher.open({ id, accountId, user, gateway, epoch, last, onLost: () => session.leave('takenOver') });
    const session = new LiveSession({
      ...{ row, analysis, stream, turns, clock, limits, graceMs, log },
      onFinished: (finished) => this.#closeFinished(finished),
    });
    this.#keep(session);
    return session;
  }

  #keep(session: LiveSession): void {
    const device = deviceKey(session.row);
    this.#byDevice.set(device, session);
    this.#byId.set(session.row.id, session);
    void session.gone.then(() => {
      if (this.#byDevice.get(device) === session) this.#byDevice.delete(device);
      this.#byId.delete(session.row.id);
    });
  }

  /** Closes a session in the store, however long that takes, then tells the device. */
  async #closeFinished(session: LiveSession): Promise<void> {
    if (session.isOver) return;
    const { row, endedAt } = session;
    try {
      const closed = await this.#options.store.closeSession(row.id, row.epoch, endedAt);
      if (closed) session.connection?.send({ type: 'ended', session_id: row.id });
      session.leave(closed ? 'normal' : 'takenOver');
    } catch (err) {
      this.#options.log.warn({ err, session: row.id }, 'the session could not be closed in the store; trying again');
      this.#options.clock.after(RETRY_MS, () => void this.#closeFinished(session));
    }
  }

  async #isOrphan({ gateway }: Session): Promise<boolean> {
    return (
      gateway !== this.#options.gateway &&
      !(await this.#options.store.gatewaysSince(this.#silentSince)).includes(gateway)
    );
  }

  /** Gateways that have not beaten since are dead, and the time of grace of their sessions has passed. */
  get #silentSince(): number {
    return this.#options.clock.now() - Math.max(this.#options.graceMs, LEAST_SILENCE_MS);
  }

  async #loseTaken(): Promise<void> {
    const { store, gateway, clock } = this.#options;
    const now = clock.now();
    for (const { id, epoch } of await store.sessionsTakenFrom(gateway, this.#sweptAt - LOOK_BACK_MS)) {
      const session = this.#byId.get(id);
      if (session && session.row.epoch < epoch) session.leave('takenOver');
    }
    this.#sweptAt = now;
  }

  async #closeOrphans(): Promise<void> {
    for (const row of await this.#options.store.orphanedSessions(this.#silentSince)) {
      if (row.gateway !== this.#options.gateway) await this.#closeRow(row);
    }
  }

  async #closeRow(row: Session): Promise<null> {
    const closed = await this.#options.store.closeSession(row.id, row.epoch, row.progress.lastDataAt ?? row.startedAt);
    if (closed) this.#options.log.info({ session: row.id, owner: row.gateway }, 'closed a session that nobody served');
    return null;
  }

  #closeSoon(row: Session): void {
    this.#closeRow(row).catch((err: unknown) => {
      this.#options.log.warn({ err, session: row.id }, 'a session could not be closed in the store; trying again');
      this.#options.clock.after(RETRY_MS, () => this.#closeSoon(row));
    });
  }
}

/** Added to the device's times where its clock and the server's differ by more than a second, ms. */
export function clockShift({ at, deviceClock }: Pick<Admission, 'at' | 'deviceClock'>): number {
  if (deviceClock === null || Math.abs(at - deviceClock) <= MAX_CLOCK_OFFSET_MS) return 0;
  return at - deviceClock;
}

function deviceKey({ accountId, deviceId }: { accountId: string; deviceId: string }): string {
  return `${accountId}/${deviceId}`;
}
