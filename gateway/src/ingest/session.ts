import type { CloseReason } from '@device-insights/fanout';
import type { Analysis, SampleRun } from '../analysis/analysis.js';
import type { Clock, Timer } from '../clock.js';
import type { PublishedStream } from '../publisher/publisher.js';
import type { Session } from '../store/store.js';
import type { Connection, Incoming } from './connection.js';
import { decodeBinary, type Fault, type Frame, fault } from './frame.js';
import type { IngestLimits, Log } from './ingest.js';
import { Intake, type IntakeRefusal } from './intake.js';
import { decodeText } from './message.js';
import type { Turns, Worker } from './turns.js';

export interface LiveSessionParts {
  readonly row: Session;
  readonly analysis: Analysis;
  readonly stream: PublishedStream;
  readonly turns: Turns;
  readonly clock: Clock;
  readonly limits: IngestLimits;
  /** How long it stays open without a connection, ms. */
  readonly graceMs: number;
  readonly log: Log;
  /** Called once when all is stored and published and the session is to be closed in the store. */
  readonly onFinished: (session: LiveSession) => void;
}

/** An acknowledgement does not wait for the interval when this much data time has come, ms. */
const ACK_DATA_MS = 5000;
/** Progress is recorded this often while data flow, ms; the protocol allows 5 s. */
const RECORD_EVERY_MS = 2500;
/** What may wait to be decoded before the socket is paused, bytes; a chunk of the socket comes on top. */
const MAX_WAITING_BYTES = 64 * 1024;

/** Readings of one session that may wait to be published; they go at 1,000 a second and type. */
const MAX_UNPUBLISHED = 1000;

const REFUSALS: Readonly<Record<IntakeRefusal, string>> = {
  too_late: 'these numbers have been given up as lost',
  in_future: 'ts lies more than 60 s ahead of the server; connect with the clock parameter',
  unknown_channel: 'the session has no such channel',
};

type Message = Incoming & { readonly connection: Connection };

/**
 * A session on this gateway, connected or within its time of grace: takes messages in steps, which the turns hand out,
 * and feeds the analysis.
 */
export class LiveSession implements Worker {
  readonly row: Session;
  readonly #parts: LiveSessionParts;
  readonly #intake: Intake;
  /** Resolves when it is closed in the store, or lost. */
  readonly gone: Promise<void>;
  #resolveGone: () => void = () => undefined;
  #connection: Connection | null = null;
  #waiting: Message[] = [];
  #waitingBytes = 0;
  #runs: SampleRun[] = [];
  #ackTimer: Timer | null = null;
  #grace: Timer | null = null;
  #recordedAt = Number.NEGATIVE_INFINITY;
  #isRecorded = true;
  #anchors = 0;
  #refused = 0;
  #awaitsStream = false;
  #state: 'open' | 'closing' | 'finishing' | 'over' = 'open';

  constructor(parts: LiveSessionParts) {
    this.#parts = parts;
    this.row = parts.row;
    this.gone = new Promise((resolve) => {
      this.#resolveGone = resolve;
    });
    const { row, clock, log } = parts;
    this.#intake = new Intake({
      channels: row.channels,
      clock,
      progress: row.progress,
      push: (run) => this.#runs.push(run),
      onRateOff: (channel, relativeRate) =>
        log.warn({ session: row.id, channel, relativeRate }, 'the sample rate is more than 20 % off the model'),
    });
  }

  get isOpen(): boolean {
    return this.#state === 'open';
  }

  /** Whether it has left this gateway. */
  get isOver(): boolean {
    return this.#state === 'over';
  }

  get connection(): Connection | null {
    return this.#connection;
  }

  get nextSeq(): Readonly<Record<string, number>> {
    return this.#intake.progress().nextSeq;
  }

  /** Arrival of the last data, or the start where none came: when it ended, ms. */
  get endedAt(): number {
    return this.#intake.progress().lastDataAt ?? this.row.startedAt;
  }

  /** Makes a connection the session's only one. */
  attach(connection: Connection): void {
    this.#grace?.cancel();
    this.#connection?.close('takenOver');
    this.#connection = connection;
  }

  /** A connection has gone; without one the session closes after its time of grace. */
  detach(connection: Connection): void {
    if (this.#connection !== connection) return;
    this.#connection = null;
    if (this.#state === 'open') this.#grace = this.#parts.clock.after(this.#parts.graceMs, () => this.close());
  }

  /** Takes a message; the socket is paused while too much waits. */
  take(connection: Connection, { data, isBinary }: Incoming): void {
    if (this.#state !== 'open') return;
    this.#waiting.push({ connection, data, isBinary });
    this.#waitingBytes += data.length;
    if (this.#waitingBytes > MAX_WAITING_BYTES) connection.pause();
    this.#parts.turns.add(this);
  }

  step(): boolean {
    if (this.#isAhead()) return false;
    const run = this.#runs.shift();
    if (run) this.#parts.analysis.push(run);
    else if (!this.#handleNext()) return this.#state === 'closing' && this.#finish();
    return true;
  }

  /** Gives up stale holes, says so to the device, and records what is not recorded yet. Called about twice a second. */
  tick(): void {
    if (this.#state !== 'open') return;
    if (this.#intake.tick()) {
      this.#isRecorded = false;
      this.#scheduleAck();
      this.#parts.turns.add(this);
    }
    this.#recordIfDue();
  }

  /** Ends the session: what has come in is analysed, stored and published; then `onFinished`. */
  close(): void {
    if (this.#state !== 'open') return;
    this.#state = 'closing';
    this.#parts.turns.add(this);
  }

  /** The session is over here, whoever has it now. */
  leave(reason: CloseReason): void {
    if (this.#state === 'over') return;
    this.#state = 'over';
    this.#ackTimer?.cancel();
    this.#grace?.cancel();
    this.#parts.turns.remove(this);
    this.#connection?.close(reason);
    this.#dropWaiting();
    this.#runs = [];
    this.#parts.analysis.close();
    this.#parts.stream.close();
    this.#parts.log.info({ session: this.row.id, refused: this.#refused, reason }, 'session left this gateway');
    this.#resolveGone();
  }

  /**
   * Stops taking data, analyses what was received, and resolves when that is stored and published; the session stays
   * open in the store. One that was closing goes on with that.
   */
  suspend(): Promise<void> {
    if (this.#state !== 'open') return this.gone;
    this.#state = 'finishing';
    this.#dropWaiting();
    this.#connection?.pause();
    for (const run of this.#runs.splice(0)) this.#parts.analysis.push(run);
    this.#record();
    return this.#parts.stream.flushed();
  }

  /** A back-fill waits for its own readings to be published, so that it does not fill the publisher for all. */
  #isAhead(): boolean {
    const { stream, turns } = this.#parts;
    if (this.#awaitsStream || stream.length < MAX_UNPUBLISHED) return this.#awaitsStream;
    this.#awaitsStream = true;
    void stream.flushed().then(() => {
      this.#awaitsStream = false;
      turns.add(this);
    });
    return true;
  }

  #handleNext(): boolean {
    const message = this.#waiting.shift();
    if (!message) return false;
    this.#waitingBytes -= message.data.length;
    if (this.#waiting.length === 0) this.#connection?.resume();
    if (!message.connection.closed) this.#handle(message);
    return true;
  }

  #handle({ connection, data, isBinary }: Message): void {
    const { channels } = this.row;
    const message = isBinary ? decodeBinary(data, channels) : decodeText(data.toString(), channels);
    if ('fault' in message) this.#refuse(connection, message);
    else if (!('type' in message)) this.#receive(connection, message);
    else if (message.type === 'samples') this.#receive(connection, message.frame);
    else if (message.type === 'ping') connection.send({ ...message, type: 'pong' });
    else this.#end();
  }

  #receive(connection: Connection, frame: Frame): void {
    const code = this.#intake.receive(frame);
    if (code !== null) {
      this.#refuse(connection, fault(code, REFUSALS[code], { channel: frame.channel, seq: frame.seq }));
    } else {
      connection.accepted();
      this.#scheduleAck();
      this.#isRecorded = false;
      this.#recordIfDue();
    }
  }

  #refuse(connection: Connection, refusal: Fault): void {
    this.#refused += 1;
    connection.refuse(refusal);
  }

  #end(): void {
    this.#dropWaiting();
    this.close();
  }

  #dropWaiting(): void {
    this.#waiting = [];
    this.#waitingBytes = 0;
  }

  #scheduleAck(): void {
    if (this.#intake.unacknowledgedMs >= ACK_DATA_MS) this.#ack();
    else this.#ackTimer ??= this.#parts.clock.after(this.#parts.limits.ack_interval_ms, () => this.#ack());
  }

  #ack(): void {
    this.#ackTimer?.cancel();
    this.#ackTimer = null;
    this.#intake.acknowledged();
    this.#connection?.send({ type: 'ack', next_seq: this.#intake.nextSeq(), server_time: this.#parts.clock.now() });
  }

  /** Records progress every few seconds, and at once when something became known that is then fixed. */
  #recordIfDue(): void {
    const anchors = this.#intake.anchors;
    if (this.#isRecorded) return;
    if (anchors === this.#anchors && this.#parts.clock.now() - this.#recordedAt < RECORD_EVERY_MS) return;
    this.#anchors = anchors;
    this.#record();
  }

  #record(): void {
    this.#isRecorded = true;
    this.#recordedAt = this.#parts.clock.now();
    this.#parts.stream.record(this.#intake.progress());
  }

  /** The last steps of a closing session; true while there is more to do. */
  #finish(): boolean {
    this.#intake.flush();
    if (this.#runs.length > 0) return true;
    this.#state = 'finishing';
    this.#ackTimer?.cancel();
    if (this.#intake.unacknowledgedMs > 0) this.#ack();
    this.#parts.analysis.end();
    this.#record();
    void this.#parts.stream.flushed().then(() => this.#parts.onFinished(this));
    return false;
  }
}
