import type { CloseReason } from '@device-insights/contract/close-codes';
import type { Clock, Timer } from '@device-insights/fanout/platform/clock';
import { countOne } from '@device-insights/fanout/platform/count';
import type { Worker } from '@device-insights/fanout/platform/fair-scheduler';
import type { Log } from '@device-insights/fanout/platform/log';
import type { Analysis } from '../analysis/analysis.js';
import type { NoReading } from '../analysis/no-reading.js';
import type { SampleRun } from '../analysis/sample-run.js';
import { ForwardClock } from '../forward-clock.js';
import type { Reading } from '../insight.js';
import type { Inspection } from '../peers/inspection.js';
import type { Stream } from '../publisher/stream.js';
import type { Diagnostics, Session } from '../store/store.js';
import { Acknowledgements } from './acknowledgements.js';
import type { Connection } from './connection.js';
import type { IngestCounters } from './counters.js';
import { decodeBinary, EARLIEST_MS, type Fault, type Frame, fault } from './frame.js';
import { Inbox } from './inbox.js';
import { Intake, REFUSALS } from './intake.js';
import { decodeText } from './message.js';
import { noReadingFields, tellNoReadings } from './no-reading.js';
import { type NoticeFields, Notices, notAnalysed, noticeLate } from './notices.js';
import type { SessionScheduler } from './session-scheduler.js';
import { Trace } from './trace.js';

interface LiveSessionParts {
  readonly row: Session;
  readonly analysis: Analysis;
  readonly stream: Stream;
  readonly scheduler: SessionScheduler;
  readonly counters: IngestCounters;
  readonly clock: Clock;
  /** Time that the session stays open without a connection, ms. */
  readonly graceMs: number;
  readonly log: Log;
  /** What a former owner of the session has kept of its problems. */
  readonly diagnostics: Diagnostics | null;
  /** Keeps diagnostics, and the code of the present problem. Rejects as the store does. */
  readonly diagnose: (diagnostics: Diagnostics, problem: string | null) => Promise<void>;
  /** The closed sessions of the device with data at or after a time, ms. Rejects as the store does. */
  readonly storedSince: (from: number) => Promise<readonly Session[]>;
  /** Called once, when everything is stored and published and the session can be closed in the store. */
  readonly onFinished: (session: LiveSession) => void;
}

/** Interval at which progress is recorded while data arrive, ms. */
const RECORD_EVERY_MS = 2500;
/** Maximum interval while readings wait to be stored, which go first, ms; the protocol allows 5 s. */
const RECORD_AT_LATEST_MS = 4000;
/**
 * Data time after which the readings so far are asked to be stored; those of the stretch before must be stored by then,
 * ms. So at most 20 s of readings may be lost with this gateway, and the replay brings them back: it reaches 60 s back
 * from what the device knows as acknowledged, and the longest window is 32 s, which may wait 2 s for a channel.
 */
const STRETCH_MS = 10_000;

/** Shortest time between two records of the diagnostics; they may be 5 s old, ms. */
const DIAGNOSE_EVERY_MS = 4000;

/** Data times of two sessions of a device may overlap by this much, ms: clocks are set, and sessions taken over. */
const OVERLAP_MS = 10_000;

const TWICE: NoticeFields = {
  detail:
    'connections with this device id close each other: give each device an id of its own, and end a connection before the device opens the next',
};

/**
 * A session on this gateway, connected or in its grace period: processes messages in steps, in the turns that it is
 * given, and feeds the analysis.
 */
export class LiveSession implements Worker {
  readonly row: Session;
  isWaiting = false;
  readonly #parts: LiveSessionParts;
  readonly #intake: Intake;
  readonly #notices: Notices;
  /** What the notices have said of missing readings. */
  #noReadings: readonly NoReading[] = [];
  readonly #trace: Trace;
  readonly #acknowledgements: Acknowledgements;
  /** Resolves when the session is closed in the store, or lost to another gateway. */
  readonly gone: Promise<void>;
  #resolveGone: () => void = () => undefined;
  #connection: Connection | null = null;
  readonly #inbox = new Inbox();
  #runs: SampleRun[] = [];
  #grace: Timer | null = null;
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
  /** Sessions whose data may come again in this one; null before they were asked for. */
  #stored: Promise<readonly Session[]> | null = null;
  #isOverlapNoted = false;
  #isUsedTwice = false;
  #state: 'open' | 'closing' | 'finishing' | 'over' = 'open';
  #isClosedElsewhere = false;

  constructor(parts: LiveSessionParts) {
    this.#parts = parts;
    this.row = parts.row;
    this.gone = new Promise((resolve) => {
      this.#resolveGone = resolve;
    });
    const { row, clock, log, stream } = parts;
    void stream.disowned.then((by) => (by === 'taken' ? this.leave('takenOver') : this.#endElsewhere()));
    this.#trace = new Trace(row.channels, clock, parts.diagnostics);
    this.#notices = new Notices(clock, (notice) => {
      this.#trace.noticed(notice);
      this.#connection?.send({ type: 'notice', ...notice });
    });
    this.#intake = new Intake({
      channels: row.channels,
      clock: new ForwardClock(clock, 1, row.progress.lastDataAt ?? row.startedAt),
      progress: row.progress,
      notices: this.#notices,
      onRateOff: (channel, relativeRate) =>
        log.warn(
          { session: row.id, channel, relativeRate },
          'the sample rate differs from the device model by more than 20 %',
        ),
    });
    this.#acknowledgements = new Acknowledgements(this.#intake, clock, (next_seq) =>
      this.#connection?.send({ type: 'ack', next_seq, server_time: clock.now() }),
    );
  }

  get account(): string {
    return this.row.accountId;
  }

  get isOpen(): boolean {
    return this.#state === 'open';
  }

  /** Whether another gateway has closed the session in the store. */
  get isClosedElsewhere(): boolean {
    return this.#isClosedElsewhere;
  }

  /** Whether the session has left this gateway. */
  get isOver(): boolean {
    return this.#state === 'over';
  }

  get connection(): Connection | null {
    return this.#connection;
  }

  get nextSeq(): Readonly<Record<string, number>> {
    return this.#intake.progress().nextSeq;
  }

  /** End of the session: arrival of the last data, ms; its start if all were refused, and null if none came. */
  get endedAt(): number | null {
    return this.#intake.progress().lastDataAt ?? (this.#refused > 0 ? this.row.startedAt : null);
  }

  /** Makes a connection the session's only one. */
  attach(connection: Connection): void {
    this.#grace?.cancel();
    this.#grace = null;
    this.#connection?.close('takenOver');
    this.#connection = connection;
    this.#trace.connected(true);
  }

  /** The current state; the signal of `channel` is recorded for display from now on. */
  inspect(channel: number | null): Inspection {
    return this.#trace.inspect(this.#intake.relativeRates(), this.#intake.progress().lastDataAt, channel);
  }

  /** Sends the notices that the device should get at once; call when its connection is ready. */
  greet(): void {
    const modalities = this.#parts.analysis.lacking;
    if (modalities) this.#notices.raise('not_analysed', null, { detail: notAnalysed(modalities), modalities });
    if (this.#isUsedTwice) this.#notices.raise('device_id_twice', null, TWICE);
    this.#isUsedTwice = false;
    for (const each of this.#noReadings)
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
  detach(connection: Connection): void {
    if (this.#connection !== connection) return;
    this.#connection = null;
    this.#trace.connected(false);
    if (this.#state !== 'open') return;
    this.#grace = this.#parts.clock.after(this.#parts.graceMs, () => this.close());
    this.#parts.scheduler.add(this); // The last messages still have to be handled.
  }

  /** Takes a message and handles it at once if there is time; the socket is paused while too much data wait. */
  take(connection: Connection, data: Buffer, isBinary: boolean): void {
    if (this.#state !== 'open' || connection.closed) return;
    const { scheduler } = this.#parts;
    if (this.#inbox.isEmpty && this.#runs.length === 0 && scheduler.hasTime() && !this.#isAhead()) {
      this.#handle(connection, data, isBinary);
      this.#analyse(scheduler);
      return;
    }
    this.#inbox.add({ connection, data, isBinary });
    this.#parts.scheduler.add(this);
  }

  /** Analyses the runs of the last message: all of them, or as many as there is time for. */
  #analyse(scheduler: SessionScheduler): void {
    while (this.#runs.length > 0 && scheduler.hasTime()) this.#analyseNext();
    if (this.#runs.length > 0) scheduler.add(this);
  }

  #analyseNext(): boolean {
    const run = this.#runs.shift();
    if (run) this.#analyseRun(run);
    return run !== undefined;
  }

  #analyseRun(run: SampleRun): void {
    const { readings, isLate } = this.#parts.analysis.push(run);
    this.#publish(readings);
    noticeLate(this.#notices, run.channel, isLate);
    this.#dataTime = Math.max(this.#dataTime, run.t);
    this.#tellNoReadings();
  }

  #publish(readings: readonly Reading[]): void {
    for (const reading of readings) this.#parts.stream.publish(reading);
  }

  /** Takes the runs that ingest has put in order: they wait for their analysis. */
  #keep(runs: readonly SampleRun[]): void {
    for (const run of runs) {
      this.#trace.run(run);
      this.#runs.push(run);
    }
  }

  #tellNoReadings(): void {
    const { noReadings } = this.#parts.analysis;
    if (noReadings !== this.#noReadings) this.#noReadings = tellNoReadings(this.#notices, this.#noReadings, noReadings);
  }

  step(): boolean {
    if (this.#isAhead()) return false;
    if (!this.#analyseNext() && !this.#handleNext()) {
      if (this.#isForsaken) this.close();
      return this.#state === 'closing' && this.#finish();
    }
    return true;
  }

  /** Whether the session has no connection and never received data: there is nothing to resume. */
  get #isForsaken(): boolean {
    return this.#connection === null && this.#grace !== null && this.#intake.progress().lastDataAt === null;
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
      this.#acknowledgements.schedule();
      this.#parts.scheduler.add(this);
    }
    this.#recordIfDue();
    void this.#noteOverlap();
    if (this.#parts.clock.monotonic() - this.#diagnosedAt >= DIAGNOSE_EVERY_MS) void this.#keepDiagnostics();
  }

  /** Ends the session: received data are analysed, stored and published; then `onFinished` is called. */
  close(): void {
    if (this.#state !== 'open') return;
    this.#state = 'closing';
    this.#parts.scheduler.add(this);
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

  /** Removes the session from this gateway, whoever owns it now. */
  leave(reason: CloseReason, detail?: string): void {
    if (this.#state === 'over') return;
    this.#state = 'over';
    this.#acknowledgements.cancel();
    this.#grace?.cancel();
    this.#parts.scheduler.remove(this);
    this.#connection?.close(reason, detail);
    this.#inbox.drop();
    this.#runs = [];
    this.#parts.analysis.close();
    this.#parts.stream.close();
    this.#parts.log.info({ session: this.row.id, refused: this.#refused, reason }, 'session left this gateway');
    this.#resolveGone();
  }

  /**
   * Stops receiving data, analyses the received data, and resolves when the results are stored and published; the
   * session stays open in the store. A session that was closing continues to close.
   */
  suspend(): Promise<void> {
    if (this.#state !== 'open') return this.gone;
    this.#state = 'finishing';
    this.#inbox.drop();
    this.#connection?.pause();
    for (const run of this.#runs.splice(0)) this.#analyseRun(run);
    this.#record();
    return this.#handOver();
  }

  /** Records that the next owner has nothing of this owner to wait for. */
  async #handOver(): Promise<void> {
    const { stream } = this.#parts;
    await Promise.all([stream.flushed(), this.#keepDiagnostics()]);
    stream.record({ ...this.#intake.progress(), handedOverBy: this.row.epoch });
    await stream.flushed();
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
    void this.#parts.stream.flushed().then(() => {
      this.#isStoring = false;
      this.#parts.scheduler.add(this);
    });
    return false;
  }

  #handleNext(): boolean {
    const message = this.#inbox.take();
    if (!message) return false;
    if (this.#inbox.isEmpty) this.#connection?.resume();
    if (!message.connection.closed) this.#handle(message.connection, message.data, message.isBinary);
    return true;
  }

  #handle(connection: Connection, data: Buffer, isBinary: boolean): void {
    const { channels, progress } = this.row;
    const earliest = EARLIEST_MS - (progress.clockShift ?? 0);
    const message = isBinary ? decodeBinary(data, channels, earliest) : decodeText(data.toString(), channels, earliest);
    if ('fault' in message) this.#refuse(connection, message);
    else if (!('type' in message)) this.#receive(connection, message);
    else if (message.type === 'samples') this.#receive(connection, message.frame);
    else if (message.type === 'ping') connection.send({ ...message, type: 'pong' });
    else this.#end();
  }

  #receive(connection: Connection, frame: Frame): void {
    const { refusal, runs } = this.#intake.receive(frame);
    if (refusal !== null) {
      this.#refuse(connection, fault(refusal, REFUSALS[refusal], { channel: frame.channel, seq: frame.seq }));
    } else {
      this.#keep(runs);
      connection.accepted();
      this.#parts.counters.frames += 1;
      this.#trace.accepted();
      this.#acknowledgements.schedule();
      this.#isRecorded = false;
      this.#recordIfDue();
    }
  }

  #refuse(connection: Connection, refusal: Fault): void {
    this.#refused += 1;
    countOne(this.#parts.counters.refusedFrames, refusal.fault);
    this.#trace.refused(refusal);
    connection.refuse(refusal);
  }

  #end(): void {
    this.#inbox.drop();
    this.close();
  }

  /** Records progress every few seconds, and at once when a time became known that is fixed from then on. */
  #recordIfDue(): void {
    const anchors = this.#intake.anchors;
    if (this.#isRecorded) return;
    const interval = this.#parts.scheduler.publisher.queued > 0 ? RECORD_AT_LATEST_MS : RECORD_EVERY_MS;
    if (anchors === this.#anchors && this.#parts.clock.monotonic() - this.#recordedAt < interval) return;
    this.#anchors = anchors;
    this.#record();
  }

  #record(): void {
    this.#isRecorded = true;
    this.#recordedAt = this.#parts.clock.monotonic();
    this.#parts.stream.record(this.#intake.progress());
  }

  /** The last steps of a closing session; true while there are more. */
  #finish(): boolean {
    this.#keep(this.#intake.flush());
    if (this.#runs.length > 0) return true;
    this.#state = 'finishing';
    this.#acknowledgements.finish();
    this.#publish(this.#parts.analysis.end());
    this.#tellNoReadings();
    this.#record();
    const { stream, onFinished } = this.#parts;
    void this.#noteOverlap()
      .then(() => Promise.all([stream.flushed(), this.#keepDiagnostics()]))
      .then(() => onFinished(this));
    return false;
  }

  /** Keeps the diagnostics if they have changed; what fails is tried again by a later call. A session without frames leaves none. */
  async #keepDiagnostics(): Promise<void> {
    this.#diagnosedAt = this.#parts.clock.monotonic();
    if (this.endedAt === null) return;
    const diagnostics = this.#trace.diagnostics(this.#intake.relativeRates());
    const text = JSON.stringify(diagnostics);
    if (text === this.#diagnosed) return;
    this.#diagnosed = text;
    const hasData = this.#intake.progress().lastDataAt !== null;
    await this.#parts.diagnose(diagnostics, this.#trace.problem(hasData)).catch(() => {
      this.#diagnosed = '';
    });
  }

  /** Tells the device once if a closed session of it has the data of more than 10 s of this one. */
  async #noteOverlap(): Promise<void> {
    const { firstInstant: first, lastInstant: last } = this.#intake.progress();
    if (this.#isOverlapNoted || first === null || last === undefined || last - first <= OVERLAP_MS) return;
    this.#stored ??= this.#parts.storedSince(first + OVERLAP_MS);
    const stored = await this.#stored.catch(() => {
      this.#stored = null; // Asked for again.
      return [];
    });
    const same = stored.find((session) => overlapMs(session, first, last) > OVERLAP_MS);
    if (!same || this.#isOverlapNoted) return;
    this.#isOverlapNoted = true;
    this.#notices.raise('already_stored', null, alreadyStored(same.id));
  }
}

/** How much of the time from `first` to `last` a session's data cover, ms. */
function overlapMs({ progress: { firstInstant, lastInstant } }: Session, first: number, last: number): number {
  return Math.min(lastInstant ?? Number.NEGATIVE_INFINITY, last) - Math.max(firstInstant ?? 0, first);
}

function alreadyStored(session_id: string): NoticeFields {
  const detail = `the closed session ${session_id} of this device has data of the same time: if these are the same data, their readings are stored twice`;
  return { detail, session_id };
}
