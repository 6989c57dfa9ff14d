import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { FRAME_ERRORS } from '@device-insights/contract/ingest';
import { decodeBinary, type Fault, type Frame } from '@device-insights/gateway/test-ingest/frame';
import { Intake, NO_PROGRESS } from '@device-insights/gateway/test-ingest/intake';
import { decodeText } from '@device-insights/gateway/test-ingest/message';
import { Notices } from '@device-insights/gateway/test-ingest/notices';
import { HostileFrames, MOST_INSTANTS, SAMPLE_BYTES } from './hostile-frames.js';
import { IntakeWitness } from './intake-witness.js';
import { Random } from './random.js';

interface DecoderFuzzOptions {
  readonly seed: number;
  readonly frames: number;
  /** Time after which to stop, ms. */
  readonly maxMs?: number;
}

export interface DecoderFigures {
  readonly seed: number;
  readonly frames: number;
  readonly seconds: number;
  /** Frames that were decoded, those of them that the intake accepted, and refusals by code. */
  readonly decoded: number;
  readonly taken: number;
  readonly refused: Readonly<Record<string, number>>;
  /** Heap and buffers after garbage collection, bytes: when all code had run once, and at the end. */
  readonly heapBefore: number;
  readonly heapAfter: number;
}

const FRAMES_PER_SESSION = 1000;
const WARM_UP_SESSIONS = 100;
const START_MS = 1_763_600_000_000;
const YEAR_2000_MS = 946_684_800_000;
const RATES = [1, 25, 100, 250, 1000];

/**
 * Passes frames to the decoder and to the intake of sessions, and checks all conditions after each.
 * @throws if one does not hold, naming seed, session and frame
 */
export function fuzzDecoder({ seed, frames, maxMs = Number.POSITIVE_INFINITY }: DecoderFuzzOptions): DecoderFigures {
  const tally = { decoded: 0, taken: 0, refused: {} as Record<string, number> };
  const begun = performance.now();
  let [done, heapBefore] = [0, 0];
  // However slow the machine is, memory is compared with that after the warm-up
  for (
    let session = 0;
    done < frames && (session <= WARM_UP_SESSIONS || performance.now() - begun < maxMs);
    session++
  ) {
    if (session === WARM_UP_SESSIONS) heapBefore = heapNow();
    const count = Math.min(FRAMES_PER_SESSION, frames - done);
    new FuzzedSession(seed, session, tally).run(count);
    done += count;
  }
  const seconds = (performance.now() - begun) / 1000;
  return { seed, frames: done, seconds, ...tally, heapBefore, heapAfter: heapNow() };
}

class FuzzedSession {
  readonly #random: Random;
  readonly #frames: HostileFrames;
  readonly #channels;
  readonly #witness: IntakeWitness;
  readonly #intake: Intake;
  /** Twice the mean time between frames, ms: as much as their samples cover. */
  readonly #mostStep: number;
  #now = START_MS;

  constructor(
    readonly seed: number,
    readonly session: number,
    readonly tally: { decoded: number; taken: number; refused: Record<string, number> },
  ) {
    const random = Random.of(seed, session);
    this.#random = random;
    const rate = random.pick(RATES);
    this.#channels = Array.from({ length: 1 + random.below(4) }, (_, n) => ({
      ch_id: `${n}`,
      modality: 'ppg',
      bit_depth: 24,
      sample_rate_hz: rate,
      num_channels: 1 + random.below(4),
    }));
    this.#mostStep = (MOST_INSTANTS * 1000) / rate / this.#channels.length;
    this.#frames = new HostileFrames(random, this.#channels);
    this.#witness = new IntakeWitness(this.#channels, () => this.#now);
    const clock = { now: () => this.#now, monotonic: () => this.#now - START_MS };
    const notices = new Notices(clock, () => undefined);
    this.#intake = new Intake({ channels: this.#channels, clock, progress: NO_PROGRESS, notices });
  }

  run(frames: number): void {
    for (let n = 0; n < frames; n++) {
      try {
        this.#one(n);
      } catch (error) {
        throw new Error(`seed ${this.seed}, session ${this.session}, frame ${n}: ${error}`, { cause: error });
      }
    }
    this.#see(this.#intake.flush());
    this.#witness.settle(this.#intake.nextSeq(), this.#intake.copied());
  }

  #one(n: number): void {
    const random = this.#random;
    this.#now += random.chance(0.01) ? random.below(5000) : random.below(this.#mostStep);
    if (n % 64 === 63) {
      this.#see(this.#intake.tick() ?? []);
      this.#witness.advance(this.#intake.nextSeq());
    }
    const frame = random.chance(0.1) ? this.#text() : decodeBinary(this.#frames.binary(this.#now), this.#channels);
    if (frame === null) return;
    if ('fault' in frame) this.#refused(frame.fault);
    else this.#receive(frame);
  }

  #receive(frame: Frame): void {
    this.tally.decoded++;
    checkFrame(frame, this.#channels);
    this.#witness.offer(frame);
    const runs = this.#intake.receive(frame);
    if ('fault' in runs) {
      this.#refused(runs.fault);
      return;
    }
    this.#see(runs);
    this.tally.taken++;
  }

  #see(runs: ReturnType<Intake['flush']>): void {
    for (const run of runs) this.#witness.push(run);
  }

  /** Null if the message is not samples. */
  #text(): Frame | Fault | null {
    const message = decodeText(this.#frames.text(this.#now), this.#channels);
    if ('fault' in message) return message;
    return message.type === 'samples' ? message.frame : null;
  }

  #refused(code: Fault['fault']): void {
    if (!FRAME_ERRORS.includes(code)) throw new Error(`${code} is not in the catalogue`);
    this.tally.refused[code] = (this.tally.refused[code] ?? 0) + 1;
  }
}

/** The limits of the protocol (INGEST.md, section 2). */
function checkFrame(frame: Frame, channels: readonly { readonly num_channels: number }[]): void {
  const { channel, seq, ts, encoding, instants, payload } = frame;
  const width = channels[channel]?.num_channels;
  const holds =
    width !== undefined &&
    Number.isInteger(instants) &&
    instants >= 1 &&
    Number.isInteger(seq) &&
    seq >= 0 &&
    seq + instants <= 2 ** 32 &&
    (ts === null || (ts >= YEAR_2000_MS && ts < Number.POSITIVE_INFINITY)) &&
    payload.length === instants * width * SAMPLE_BYTES[encoding];
  if (!holds) throw new Error(`a frame out of bounds was accepted: ${JSON.stringify(frame)}`);
}

/** Bytes of heap and buffers in use, after garbage collection. */
function heapNow(): number {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  collect();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}
