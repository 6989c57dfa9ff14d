import type { CloseReason } from '@device-insights/contract/close-codes';
import { LIMITS } from '@device-insights/contract/ingest';
import type { Clock, Timer } from '@device-insights/fanout/platform/clock';
import { countOne } from '@device-insights/fanout/platform/count';
import type { Worker } from '@device-insights/fanout/platform/fair-scheduler';
import type { Log } from '@device-insights/fanout/platform/log';
import { deferred } from '@device-insights/fanout/platform/promises';
import type { Analysis, Found } from '../analysis/analysis.js';
import type { SampleRun } from '../analysis/sample-run.js';
import { ForwardClock } from '../forward-clock.js';
import type { Inspection } from '../peers/inspection.js';
import type { Stream } from '../publisher/stream.js';
import type { Diagnostics, Session, Store } from '../store/store.js';
import { AlreadyStored } from './already-stored.js';
import type { Transport } from './connection.js';
import { decodeBinary, EARLIEST_MS, type Fault, type Frame } from './frame.js';
import { Inbox } from './inbox.js';
import { Intake } from './intake.js';
import { decodeText } from './message.js';
import type { IngestCounters } from './metrics.js';
import { LATE, type Notice, type NoticeFields, Notices, noReadingFields, notAnalysed } from './notices.js';
import type { SessionScheduler } from './session-scheduler.js';
import { Trace } from './trace.js';

interface LiveSessionParts {
  readonly row: Session;
  readonly analysis: Analysis;
  readonly stream: Stream;
  readonly store: Pick<Store, 'closeSession' | 'putDiagnostics' | 'sessions'>;
  readonly scheduler: SessionScheduler;
  readonly counters: IngestCounters;
  readonly clock: Clock;
  /** Time that the session stays open without a connection, ms. */
  readonly graceMs: number;
  readonly log: Log;
  /** The diagnostics that a former owner of the session stored. */
  readonly diagnostics: Diagnostics | null;
}

/** Interval after which progress is recorded with the next readings, ms: a commit of its own costs as much as theirs. */
const RECORD_EVERY_MS = 2500;
/** The same without readings, ms; the protocol allows 5 s. */
const RECORD_AT_LATEST_MS = 4000;
/** Data time after which an acknowledgement is sent without waiting for the interval, ms. */
const ACK_DATA_MS = 5000;
/**
 * Data time after which the readings so far are asked to be stored; those of the stretch before must be stored by then,
 * ms. So at most 20 s of readings may be lost with this gateway, and the replay brings them back: it reaches 60 s back
 * from what the device knows as acknowledged, and the windows of rr are 32 s, which may wait 2 s for a channel. Those of hrv and
 * rhythm are 60 s: the first ones after a crash have a part of their data.
 */
const STRETCH_MS = 10_000;
/** Minimum time between two records of the diagnostics; they may be 5 s old, ms. */
const DIAGNOSE_EVERY_MS = 4000;
/** Interval of the attempts to close a session in the store, ms. */
const RETRY_MS = 500;
const CLOSED_ELSEWHERE =
  'the session was closed while this gateway could not reach the store; connect again to go on in a new one';

const TWICE: NoticeFields = {
  detail:
    'connections with this device id close each other: give each device an id of its own, and end a connection before the device opens the next',
};

/**
 * A session on this gateway, connected or in its grace period: processes messages in steps, in the turns that it is
 * given, and feeds the analysis.
 */
export class LiveSession implements Worker {
  readonly #gone = deferred();
  readonly row: Session;
  isWaiting = false;
  /** Resolves when the session is closed in the store, or lost to another gateway. */
  readonly gone = this.#gone.promise;
  readonly #intake: Intake;
  readonly #notices: Notices;
  readonly #trace: Trace;
  readonly #inbox = new Inbox();
  readonly #alreadyStored: AlreadyStored;
  #connection: Transport | null = null;
  /** Runs that wait for their analysis. */
  #runs: SampleRun[] = [];
  #grace: Timer | null = null;
  #ackTimer: Timer | null = null;
  #isAckDue = false;
  #recordedAt = Number.NEGATIVE_INFINITY;
  #isRecorded = true;
  #anchors = 0;
  #refused = 0;
  /** The newest data time analysed, and the end of the stretch that it is in, ms. */
  #dataTime = Number.NEGATIVE_INFINITY;
  #stretchEnd = -Number.MAX_VALUE;
  /** Whether readings of former stretches are being stored. */
  #isStoring = false;
  /** The diagnostics that are kept, as text, and the time of keeping them. */
  #diagnosed = '';
  #diagnosedAt = Number.NEGATIVE_INFINITY;
  #isUsedTwice = false;
  #state: 'open' | 'closing' | 'finishing' | 'over' = 'open';
  /** Whether another gateway has closed the session in the store. */
  #isClosedElsewhere = false;

  constructor(private readonly parts: LiveSessionParts) {
    const { row, clock, stream, diagnostics } = parts;
    this.row = row;
    this.#alreadyStored = new AlreadyStored(parts.store, row);
    const say = (notice: Notice) => this.#connection?.send({ type: 'notice', ...notice });
    this.#notices = new Notices(clock, say, diagnostics?.notices);
    this.#trace = new Trace(row.channels, clock, this.#notices, diagnostics?.refused);
    const arrivals = new ForwardClock(clock, 1, row.progress.lastDataAt ?? row.startedAt);
    const { channels, progress } = row;
    this.#intake = new Intake({ channels, clock: arrivals, progress, notices: this.#notices });
    void stream.disowned.then((by) => (by === 'taken' ? this.leave('takenOver') : this.#endElsewhere()));
  }

  get account(): string {
    return this.row.accountId;
  }

  get isOpen(): boolean {
    return this.#state === 'open';
  }

  get connection(): Transport | null {
    return this.#connection;
  }

  get nextSeq(): Readonly<Record<string, number>> {
    return this.#intake.progress().nextSeq;
  }

  /** Makes a connection the session's only one. */
  attach(connection: Transport): void {
    this.#grace?.cancel();
    this.#grace = null;
    this.#connection?.close('takenOver');
    this.#connection = connection;
    this.#trace.connected(true);
  }

  /** The current state; the signal of `channel` is recorded for display from now on. */
  inspect(channel: number | null): Inspection {
    return this.#trace.inspect(this.#intake.relativeRates(), this.#intake.lastDataAt, channel);
  }

  /** Sends the notices that the device should get at once; call when its connection is ready. */
  greet(): void {
    const modalities = this.parts.analysis.lacking;
    if (modalities) this.#notices.raise('not_analysed', null, { detail: notAnalysed(modalities), modalities });
    if (this.#isUsedTwice) this.#notices.raise('device_id_twice', null, TWICE);
    this.#isUsedTwice = false;
    for (const each of this.#notices.noReadings)
      this.#connection?.send({ type: 'notice', code: 'no_reading', ...noReadingFields(each) });
  }

  /** Tells the connection that is about to be replaced, and the one that follows, that two devices seem to use their id. */
  noteTwice(): void {
    this.#connection?.send({ type: 'notice', code: 'device_id_twice', ...TWICE });
    this.#isUsedTwice = true;
  }

  /**
   * Handles the end of a connection. The session closes after its grace period, or at once if it never received data.
   */
  detach(connection: Transport): void {
    if (this.#connection !== connection) return;
    this.#connection = null;
    this.#trace.connected(false);
    if (this.#state !== 'open') return;
    this.#grace = this.parts.clock.after(this.parts.graceMs, () => this.close());
    this.parts.scheduler.add(this); // The last messages still have to be handled.
  }

  /** Takes a message and handles it at once if there is time; the socket is paused while too much data wait. */
  take(connection: Transport, data: Buffer, isBinary: boolean): void {
    if (this.#state !== 'open' || connection.closed) return;
    const { scheduler } = this.parts;
    if (!this.#inbox.isEmpty || this.#runs.length > 0 || !scheduler.hasTime() || this.#isAhead()) {
      this.#inbox.add({ connection, data, isBinary });
      scheduler.add(this);
      return;
    }
    this.#handle(connection, data, isBinary);
    while (this.#runs.length > 0 && scheduler.hasTime()) this.#analyseNext();
    if (this.#runs.length > 0) scheduler.add(this);
  }

  step(): boolean {
    if (this.#isAhead()) return false;
    if (!this.#analyseNext() && !this.#handleNext()) {
      if (this.#isForsaken) this.close();
      return this.#state === 'closing' && this.#finish();
    }
    return true;
  }

  /**
   * Gives up overdue gaps, except while messages wait that may fill them, acknowledges that, and records unrecorded
   * progress. Called about twice a second.
   */
  tick(): void {
    if (this.#state !== 'open') return;
    const runs = this.#inbox.isEmpty ? this.#intake.tick() : null;
    if (runs) {
      this.#keep(runs);
      this.#isRecorded = false;
      this.#scheduleAck();
      this.parts.scheduler.add(this);
    }
    this.#recordAfter(RECORD_AT_LATEST_MS);
    if (!this.#alreadyStored.isDone) void this.#noteOverlap();
    if (this.parts.clock.monotonic() - this.#diagnosedAt >= DIAGNOSE_EVERY_MS) void this.#keepDiagnostics();
  }

  /** Ends the session: received data are analysed, stored and published; then it is closed in the store. */
  close(): void {
    if (this.#state !== 'open') return;
    this.#state = 'closing';
    this.parts.scheduler.add(this);
  }

  /** Removes the session from this gateway, whoever owns it now. */
  leave(reason: CloseReason, detail?: string): void {
    if (this.#state === 'over') return;
    this.#state = 'over';
    this.#ackTimer?.cancel();
    this.#grace?.cancel();
    this.parts.scheduler.remove(this);
    this.#connection?.close(reason, detail);
    this.#inbox.drop();
    this.#runs = [];
    this.parts.analysis.close();
    this.parts.stream.close();
    this.parts.log.info({ session: this.row.id, refused: this.#refused, reason }, 'session left this gateway');
    this.#gone.resolve();
  }

  /**
   * Stops receiving data, analyses the received data, and resolves when the results are stored and published; the
   * session stays open in the store. A session that was closing continues to close.
   */
  async suspend(): Promise<void> {
    if (this.#state !== 'open') return this.gone;
    this.#state = 'finishing';
    this.#inbox.drop();
    this.#connection?.pause();
    while (this.#analyseNext());
    this.#record();
    const { stream } = this.parts;
    await Promise.all([stream.flushed(), this.#keepDiagnostics()]);
    // The next owner has nothing of this owner to wait for.
    stream.record({ ...this.#intake.progress(), handedOverBy: this.row.epoch });
    await stream.flushed();
  }

  #handleNext(): boolean {
    const message = this.#inbox.take();
    if (!message) return false;
    if (this.#inbox.isEmpty) this.#connection?.resume();
    if (!message.connection.closed) this.#handle(message.connection, message.data, message.isBinary);
    return true;
  }

  #handle(connection: Transport, data: Buffer, isBinary: boolean): void {
    const { channels, progress } = this.row;
    const earliest = EARLIEST_MS - (progress.clockShift ?? 0);
    const message = isBinary ? decodeBinary(data, channels, earliest) : decodeText(data.toString(), channels, earliest);
    if ('fault' in message) this.#refuse(connection, message);
    else if (!('type' in message)) this.#receive(connection, message);
    else if (message.type === 'samples') this.#receive(connection, message.frame);
    else if (message.type === 'ping') connection.send({ ...message, type: 'pong' });
    else {
      this.#inbox.drop();
      this.close();
    }
  }

  #receive(connection: Transport, frame: Frame): void {
    const runs = this.#intake.receive(frame);
    if ('fault' in runs) {
      this.#refuse(connection, runs);
      return;
    }
    this.#keep(runs);
    connection.accepted();
    this.parts.counters.frames += 1;
    this.#trace.accepted();
    this.#scheduleAck();
    this.#isRecorded = false;
    if (this.#intake.anchors !== this.#anchors) this.#record(); // A time became known that is fixed from then on.
  }

  #refuse(connection: Transport, refusal: Fault): void {
    this.#refused += 1;
    countOne(this.parts.counters.refusedFrames, refusal.fault);
    this.#trace.refused(refusal);
    connection.refuse(refusal);
  }

  /** Takes the runs that ingest has put in order: they wait for their analysis. */
  #keep(runs: readonly SampleRun[]): void {
    for (const run of runs) {
      this.#trace.run(run);
      this.#runs.push(run);
    }
  }

  #analyseNext(): boolean {
    const run = this.#runs.shift();
    if (!run) return false;
    const { isLate, ...found } = this.parts.analysis.push(run);
    this.#publish(found);
    this.#notices.tell('channel_late', run.channel, isLate ? LATE : null);
    this.#dataTime = Math.max(this.#dataTime, run.t);
    return true;
  }

  #publish({ readings, beats }: Found): void {
    for (const reading of readings) this.parts.stream.publish(reading);
    for (const block of beats) this.parts.stream.keep(block);
    if (readings.length > 0) this.#recordAfter(RECORD_EVERY_MS);
    this.#notices.tellNoReadings(this.parts.analysis.noReadings);
  }

  /**
   * Whether a back-fill must wait for its own readings to be stored, so that none is lost of which the device keeps no
   * data.
   */
  #isAhead(): boolean {
    if (this.#dataTime < this.#stretchEnd) return false;
    if (this.#isStoring) return true;
    this.#isStoring = true;
    this.#stretchEnd = this.#dataTime + STRETCH_MS;
    void this.parts.stream.flushed().then(() => {
      this.#isStoring = false;
      this.parts.scheduler.add(this);
    });
    return false;
  }

  /**
   * Acknowledges received data within the interval, or at once if much data wait for it: then once for everything that
   * the running callback receives, because a flood would otherwise get one for every few frames.
   */
  #scheduleAck(): void {
    const { clock } = this.parts;
    if (this.#intake.unacknowledgedMs < ACK_DATA_MS)
      this.#ackTimer ??= clock.after(LIMITS.ack_interval_ms, () => this.#acknowledge());
    else if (!this.#isAckDue) {
      this.#isAckDue = true;
      queueMicrotask(() => {
        this.#isAckDue = false;
        if (this.#intake.unacknowledgedMs > 0) this.#acknowledge();
      });
    }
  }

  #acknowledge(): void {
    this.#ackTimer?.cancel();
    this.#ackTimer = null;
    this.#intake.acknowledged();
    const server_time = this.parts.clock.now();
    this.#connection?.send({ type: 'ack', next_seq: this.#intake.nextSeq(), server_time });
  }

  /** Records unrecorded progress if the last time was so long ago, ms. */
  #recordAfter(interval: number): void {
    if (!this.#isRecorded && this.parts.clock.monotonic() - this.#recordedAt >= interval) this.#record();
  }

  #record(): void {
    this.#isRecorded = true;
    this.#anchors = this.#intake.anchors;
    this.#recordedAt = this.parts.clock.monotonic();
    this.parts.stream.record(this.#intake.progress());
  }

  /** Whether the session has no connection and never received data: there is nothing to resume. */
  get #isForsaken(): boolean {
    return this.#connection === null && this.#grace !== null && this.#intake.lastDataAt === null;
  }

  /** End of the session: arrival of the last data, ms; its start if all were refused, and null if none came. */
  get #endedAt(): number | null {
    return this.#intake.lastDataAt ?? (this.#refused > 0 ? this.row.startedAt : null);
  }

  /**
   * Ends the session because another gateway has closed it in the store: it took this gateway for dead. What the device
   * may know as acknowledged is still analysed, stored and published; the rest it sends again, in another session.
   */
  #endElsewhere(): void {
    this.#isClosedElsewhere = true;
    this.#inbox.drop();
    this.close();
  }

  /** The last steps of a closing session; true while there are more. */
  #finish(): boolean {
    this.#keep(this.#intake.flush());
    if (this.#runs.length > 0) return true;
    this.#state = 'finishing';
    this.#ackTimer?.cancel();
    if (this.#intake.unacknowledgedMs > 0) this.#acknowledge();
    this.#publish(this.parts.analysis.end());
    this.#record();
    void this.#noteOverlap()
      .then(() => Promise.all([this.parts.stream.flushed(), this.#keepDiagnostics()]))
      .then(() => this.#closeInStore());
    return false;
  }

  /**
   * Closes the session in the store, retrying until that succeeds, then tells the device. If another gateway has closed
   * it, the device must connect again.
   */
  async #closeInStore(): Promise<void> {
    if (this.#state === 'over') return;
    const { store, log, clock } = this.parts;
    const { id, epoch } = this.row;
    try {
      const isClosed = await store.closeSession(id, epoch, this.#endedAt);
      if (isClosed) this.#connection?.send({ type: 'ended', session_id: id });
      if (!isClosed && this.#isClosedElsewhere) this.leave('overloaded', CLOSED_ELSEWHERE);
      else this.leave(isClosed ? 'normal' : 'takenOver');
    } catch (err) {
      log.warn({ err, session: id }, 'the session could not be closed in the store; trying again');
      clock.after(RETRY_MS, () => void this.#closeInStore());
    }
  }

  /** Keeps the diagnostics if they have changed; what fails is tried again by a later call. A session without frames leaves none. */
  async #keepDiagnostics(): Promise<void> {
    this.#diagnosedAt = this.parts.clock.monotonic();
    if (this.#endedAt === null) return;
    const diagnostics = this.#trace.diagnostics(this.#intake.relativeRates());
    const text = JSON.stringify(diagnostics);
    if (text === this.#diagnosed) return;
    this.#diagnosed = text;
    const problem = this.#trace.problem(this.#intake.lastDataAt !== null);
    const { id: sessionId, gateway, epoch } = this.row;
    await this.parts.store.putDiagnostics({ sessionId, gateway, epoch, diagnostics, problem }).catch(() => {
      this.#diagnosed = '';
    });
  }

  /** Tells the device once if a closed session of it has the data of more than 10 s of this one. */
  async #noteOverlap(): Promise<void> {
    const { extent } = this.#intake;
    const overlap = extent && (await this.#alreadyStored.find(...extent));
    if (overlap) this.#notices.raise('already_stored', null, overlap);
  }
}
