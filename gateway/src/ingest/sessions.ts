import { randomUUID } from 'node:crypto';
import type { Clock } from '@device-insights/fanout/platform/clock';
import { within } from '@device-insights/fanout/platform/deadline';
import type { Log } from '@device-insights/fanout/platform/log';
import { remember } from '@device-insights/fanout/platform/remember';
import { openAnalysis } from '../analysis/analysis.js';
import type { CoreLoad } from '../analysis/core-load.js';
import { CloseError } from '../errors.js';
import type { Heartbeats } from '../peers/heartbeats.js';
import type { Publisher } from '../publisher/publisher.js';
import { Queue } from '../queue.js';
import { type Diagnostics, IDEMPOTENCY_KEPT_MS, type LastInsights, type Session, type Store } from '../store/store.js';
import { nameUuid } from '../uuid.js';
import { type Admission, register } from './admission.js';
import { Allowance } from './allowance.js';
import type { Transport } from './connection.js';
import { NO_PROGRESS } from './intake.js';
import type { IngestCounters } from './metrics.js';
import { Owners } from './owners.js';
import { LiveSession } from './session.js';
import { type SessionLimits, SessionQuota, TOO_MANY_SESSIONS } from './session-quota.js';
import type { SessionScheduler } from './session-scheduler.js';

export interface SessionsOptions {
  readonly store: Store;
  readonly publisher: Publisher;
  /** The signal core, with all sessions of this process. */
  readonly core: CoreLoad;
  readonly heartbeats: Heartbeats;
  readonly clock: Clock;
  readonly log: Log;
  /** This process as owner of sessions: different from every other process. */
  readonly gateway: string;
  /** How long a session stays open without a connection, ms. */
  readonly graceMs: number;
  readonly limits: SessionLimits;
  readonly scheduler: SessionScheduler;
  readonly counters: IngestCounters;
}

/** The session that a connection has joined. */
export interface Joined {
  readonly session: LiveSession;
  readonly resumed: boolean;
  /** Length of the data that the device should send again, ms. */
  readonly replayMs: number;
  /** The sessions of earlier requests for the same upload, whose readings are not published again. */
  readonly continues: readonly string[];
}

/** Length of the data that a device sends again to a gateway without the signal state of its session, ms. */
const REPLAY_MS = 60_000;
const NO_MORE_TODAY = 'this account has reached its daily session limit (MAX_DAILY_SESSIONS); try again later';
/** Device clocks that differ from the server's by less than this are not shifted, ms. */
const MAX_CLOCK_OFFSET_MS = 1000;
/** Maximum time that a connection waits for the end of the device's previous session, ms. */
const ENDING_MS = 5000;
const SOMEBODY_ELSES = 'the device streams for somebody else: connect again when that session has ended';
const HAS_SESSION =
  'the device has an open session: an upload does not end it; send end on its socket, or try again when it has closed';
/** A device id that is taken over this often within this time is used by two devices, ms. */
const TWICE_TAKEOVERS = 3;
const TWICE_WITHIN_MS = 60_000;
/** Devices whose take-overs are remembered. */
const MAX_TAKEOVERS = 10_000;
const RETRY_MS = 500;
/** Number of attempts to claim a session that others change at the same time. */
const ATTEMPTS = 5;

/** The sessions that this gateway owns: opened, resumed, claimed from other gateways, and closed. */
export class Sessions {
  readonly #byDevice = new Map<string, LiveSession>();
  readonly #byId = new Map<string, LiveSession>();
  /** The connections that join, by device. */
  readonly #joins = new Queue({ each: () => 1 });
  /** Times of the last take-overs of each device, monotonic ms. */
  readonly #takeovers = new Map<string, readonly number[]>();
  readonly #quota: SessionQuota;
  readonly #openings: Allowance;
  readonly #newDevices: Allowance;
  readonly #owners: Owners;

  constructor(private readonly options: SessionsOptions) {
    this.#quota = new SessionQuota(options.limits);
    this.#openings = new Allowance(options.clock);
    this.#newDevices = new Allowance(options.clock);
    this.#owners = new Owners(options);
  }

  get size(): number {
    return this.#byId.size;
  }

  find(id: string): LiveSession | null {
    return this.#byId.get(id) ?? null;
  }

  all(): Iterable<LiveSession> {
    return this.#byId.values();
  }

  /**
   * Throws `CloseError` if a device without a session here would exceed the session quota, so that nothing is stored of it.
   */
  refuseIfFull(admission: Admission): void {
    if (this.#byDevice.has(deviceKey(admission))) return;
    this.#quota.refuseIfFull({ accountId: admission.accountId, channels: admission.model.channels });
  }

  /**
   * Joins an admitted connection to its device's session; the connections of one device join one after the other.
   * Rejects with `CloseError` if the session limit is reached or the previous session does not end, and as the store
   * does.
   */
  join(admission: Admission, connection: Transport): Promise<Joined> {
    return this.#joins.run(deviceKey(admission), () => this.#join(admission, connection));
  }

  /**
   * Handles the changes of other gateways: sessions that they took over, and sessions of dead gateways. Called once a
   * second.
   */
  async sweep(): Promise<void> {
    const { store, gateway } = this.options;
    for (const { id, epoch } of await store.takenSessions(gateway)) {
      const session = this.#byId.get(id);
      if (!session || session.row.epoch >= epoch) continue;
      this.#noteTakeover(session);
      session.leave('takenOver');
    }
    for (const row of await this.#owners.orphans()) await this.#closeOrphan(row);
  }

  async #join(admission: Admission, connection: Transport): Promise<Joined> {
    for (let attempt = 0; attempt < ATTEMPTS && !connection.closed; attempt++) {
      const joined = await this.#tryJoin(admission);
      if (!joined) continue;
      const { session } = joined;
      if (session.connection) this.#noteTakeover(session);
      else if (this.#isUsedTwice(session)) session.noteTwice();
      session.attach(connection);
      return joined;
    }
    throw new CloseError('overloaded', 'another connection of this device was admitted first; try again');
  }

  /** Counts that a session, if it is connected, is about to lose its connection to a newer one, and tells the device if that goes on. */
  #noteTakeover(session: LiveSession): void {
    if (!session.connection) return;
    const device = deviceKey(session.row);
    const now = this.options.clock.monotonic();
    remember(
      this.#takeovers,
      device,
      [...(this.#takeovers.get(device) ?? []), now].slice(-TWICE_TAKEOVERS),
      MAX_TAKEOVERS,
    );
    if (this.#isUsedTwice(session)) session.noteTwice();
  }

  #isUsedTwice({ row }: LiveSession): boolean {
    const since = this.options.clock.monotonic() - TWICE_WITHIN_MS;
    return (this.#takeovers.get(deviceKey(row)) ?? []).filter((at) => at > since).length >= TWICE_TAKEOVERS;
  }

  /** Null if the row in the store changed meanwhile, or an old session had to be closed first. */
  async #tryJoin(admission: Admission): Promise<Joined | null> {
    const { store, gateway } = this.options;
    const row = await store.openSessionOf(admission.accountId, admission.deviceId);
    if (row) await this.#refuseOthers(row, admission);
    await register(admission, this.#newDevices, store);
    const live = await this.#liveSession(admission, row);
    if (!row) return this.#open(admission);
    if (admission.upload !== null) return this.#closeForUpload(row, live);
    const isUpload = (live?.connection?.upload ?? null) !== null;
    const same = !isUpload && row.user === admission.user && row.deviceModelId === admission.model.id;
    if (live) return same ? { session: live, resumed: true, replayMs: 0, continues: [] } : this.#replace(live);
    if (await this.#owners.isOrphan(row)) return this.#closeOrphan(row);
    this.#quota.refuseIfFull(row);
    const claimed = await store.claimSession(row.id, row.epoch, gateway);
    if (!claimed) return null;
    const after = this.#owners.left(row);
    return same ? this.#goOn(claimed, after) : this.#closeRow(claimed);
  }

  /** Closes a session that nobody serves; an upload neither continues nor ends another one (`CloseError`). */
  async #closeForUpload(row: Session, live: LiveSession | null): Promise<null> {
    if (await this.#owners.isOrphan(row)) return this.#closeOrphan(row);
    if (live || row.gateway !== this.options.gateway) throw new CloseError('takenOver', HAS_SESSION);
    return null; // It has ended just now.
  }

  /** Throws `CloseError` if a user's key asks for a device that streams for somebody else. */
  async #refuseOthers(row: Session, { user }: Admission): Promise<void> {
    if (user === null || row.user === user || (await this.#owners.isOrphan(row))) return;
    throw new CloseError('forbidden', SOMEBODY_ELSES);
  }

  /** The session here, if it belongs to the row in the store. */
  async #liveSession(admission: Admission, row: Session | null): Promise<LiveSession | null> {
    const live = this.#byDevice.get(deviceKey(admission));
    if (!live) return null;
    if (!live.isOpen) await this.#ended(live);
    else if (live.row.id !== row?.id)
      await this.#replace(live); // Another gateway has closed it.
    else if (live.row.epoch !== row.epoch) live.leave('takenOver');
    else return live;
    return null;
  }

  async #ended(session: LiveSession): Promise<void> {
    if (await within(ENDING_MS, session.gone, this.options.clock)) return;
    throw new CloseError('overloaded', 'the previous session of this device has not ended yet; try again');
  }

  async #open(admission: Admission): Promise<Joined | null> {
    const { store, limits, gateway } = this.options;
    const { accountId, user, deviceId, model, at } = admission;
    const account = await store.account(accountId);
    if (!account) throw new CloseError('authenticationFailed');
    if (!this.#openings.take(account.id, limits.maxDailySessions)) throw new CloseError('overloaded', NO_MORE_TODAY);
    const { id, earlier } = await this.#attempts(admission);
    const lasts = await Promise.all(earlier.map((session) => store.lastInsights(session.id)));
    const last: LastInsights = Object.assign({}, ...lasts);
    const row: Session = {
      id,
      accountId,
      user,
      deviceId,
      deviceModelId: model.id,
      status: 'open',
      startedAt: at,
      endedAt: null,
      gateway,
      epoch: 1,
      channels: model.channels,
      spo2Curve: model.spo2Curve,
      algorithms: account.algorithms,
      progress: { ...NO_PROGRESS, clockShift: earlier[0]?.progress.clockShift ?? clockShift(admission) },
    };
    const session = this.#live(row, last);
    const isOpened = await store.openSession(row).catch((error: unknown) => {
      session.leave('overloaded');
      throw error;
    });
    if (isOpened) return { session, resumed: false, replayMs: 0, continues: earlier.map((each) => each.id) };
    session.leave('takenOver');
    return null;
  }

  /**
   * The id of a new session, and the sessions of earlier requests for the same upload. Their ids follow from its
   * Idempotency-Key, so that a later request finds them whatever broke off the earlier ones.
   */
  async #attempts({
    accountId,
    user,
    deviceId,
    model,
    at,
    upload,
  }: Admission): Promise<{ id: string; earlier: Session[] }> {
    const earlier: Session[] = [];
    for (let attempt = 0; typeof upload?.key === 'string'; attempt++) {
      const id = nameUuid(JSON.stringify([accountId, user, deviceId, model.id, upload.key, attempt]));
      const row = await this.options.store.session(id);
      if (!row) return { id, earlier };
      if (at - row.startedAt < IDEMPOTENCY_KEPT_MS) earlier.push(row);
    }
    return { id: randomUUID(), earlier };
  }

  /** Continues a claimed session without its signal state. */
  async #goOn(row: Session, after: Promise<void> | null): Promise<Joined> {
    const { store, clock, graceMs } = this.options;
    try {
      const [last, diagnostics] = await Promise.all([store.lastInsights(row.id), store.diagnostics(row.id)]);
      return { session: this.#live(row, last, after, diagnostics), resumed: true, replayMs: REPLAY_MS, continues: [] };
    } catch (error) {
      // This gateway owns the session and nobody serves it: the device may reconnect within the grace period.
      clock.after(graceMs, () => this.#closeSoon(row));
      throw error;
    }
  }

  /** Closes a session that the device's newest connection does not continue. */
  async #replace(session: LiveSession): Promise<null> {
    this.#noteTakeover(session);
    session.connection?.close('takenOver');
    session.close();
    await this.#ended(session);
    return null;
  }

  /** Serves a session from now on. Throws `CloseError` if the session limit is reached. */
  #live(
    row: Session,
    last: LastInsights,
    after: Promise<void> | null = null,
    diagnostics: Diagnostics | null = null,
  ): LiveSession {
    this.#quota.refuseIfFull(row);
    const { core, publisher, ...parts } = this.options;
    const analysis = openAnalysis(core, { ...row, last });
    if (!analysis) throw new CloseError('overloaded', TOO_MANY_SESSIONS);
    const stream = publisher.open({ ...row, last, ...(after && { after }) });
    const session = new LiveSession({ ...parts, row, analysis, stream, diagnostics });
    const device = deviceKey(row);
    this.#byDevice.set(device, session);
    this.#byId.set(row.id, session);
    this.#quota.take(row);
    void session.gone.then(() => {
      if (this.#byDevice.get(device) === session) this.#byDevice.delete(device);
      if (this.#byId.get(row.id) === session) this.#byId.delete(row.id);
      this.#quota.free(row);
    });
    return session;
  }

  /** Closes a session whose owner is dead. */
  async #closeOrphan(row: Session): Promise<null> {
    await this.#closeRow(row);
    this.#owners.declareLoss(row);
    return null;
  }

  async #closeRow(row: Session): Promise<null> {
    const closed = await this.options.store.closeSession(row.id, row.epoch, row.progress.lastDataAt ?? row.startedAt);
    if (closed)
      this.options.log.info({ session: row.id, owner: row.gateway }, 'closed a session that no gateway served');
    return null;
  }

  #closeSoon(row: Session): void {
    this.#closeRow(row).catch((err: unknown) => {
      this.options.log.warn({ err, session: row.id }, 'a session could not be closed in the store; trying again');
      this.options.clock.after(RETRY_MS, () => this.#closeSoon(row));
    });
  }
}

/** The shift of the device's times if its clock and the server's differ by more than a second, ms. */
export function clockShift({ at, deviceClock }: Pick<Admission, 'at' | 'deviceClock'>): number {
  if (deviceClock === null || Math.abs(at - deviceClock) <= MAX_CLOCK_OFFSET_MS) return 0;
  return at - deviceClock;
}

function deviceKey({ accountId, deviceId }: { accountId: string; deviceId: string }): string {
  return `${accountId}/${deviceId}`;
}
