import type { Frame } from '../device/frame.js';
import type { Rules } from '../options.js';
import { Random } from './random.js';

/** Faults between the sensor and the service. Shares are of frames, 0 to 1; all default to none. */
export interface Faults {
  /** Share of frames that are lost: their numbers are skipped. */
  readonly dropped?: number;
  /** Share of frames that are sent twice. */
  readonly repeated?: number;
  /** Share of frames that are sent after the frame which follows them on their channel. */
  readonly reordered?: number;
  /** Share of frames that are sent `lateMs` (default 1000) after they were complete. */
  readonly late?: number;
  /** Delay of the late frames, ms. Default 1000. */
  readonly lateMs?: number;
  /** Parts per million by which the device's clock runs fast. */
  readonly driftPpm?: number;
  /** Standard deviation of the stamps' error, ms. */
  readonly jitterMs?: number;
  /** Periods with their own fault. */
  readonly episodes?: readonly Episode[];
}

export const FAULTS: Rules<Faults> = {
  dropped: true,
  repeated: true,
  reordered: true,
  late: true,
  lateMs: true,
  driftPpm: true,
  jitterMs: true,
  episodes: true,
};

/**
 * A period, `from` to before `until` in seconds. `gap`: nothing is sent. `motion`: the arm swings (`strength` in g,
 * default 0.8). `noise`: white noise on every sensor (`strength` as a multiple of the pulse, default 2). `saturation`:
 * the signal is at its limit. `off`: the sensor has no contact with the skin.
 */
export interface Episode {
  /** Kind of the fault. */
  readonly kind: 'gap' | 'motion' | 'noise' | 'saturation' | 'off';
  /** Its beginning, s. */
  readonly from: number;
  /** Its end, s. */
  readonly until: number;
  /** Strength: of `motion` in g, of `noise` as a multiple of the pulse. */
  readonly strength?: number;
}

/** The episode of `kind` at `t` seconds, if there is one. */
export function episodeAt(faults: Faults, kind: Episode['kind'], t: number): Episode | undefined {
  return faults.episodes?.find((episode) => episode.kind === kind && t >= episode.from && t < episode.until);
}

/**
 * Sends frames over a faulty transport: the same frames with its faults, in order of `at`. The seed alone decides which
 * frames are affected.
 *
 * @param frames in order of `at`
 */
export function* withFaults(frames: Iterable<Frame>, faults: Faults, seed: number): Generator<Frame> {
  const random = Random.of(seed, 1);
  const held: Frame[] = [];
  const lastAt = new Map<number, number>();
  for (const frame of frames) {
    for (const sent of transport(frame, faults, random, lastAt)) insert(held, sent);
    while (held[0] && held[0].at <= frame.at) yield* held.splice(0, 1);
  }
  yield* held;
}

/** The result for one frame: nothing, the frame, or the frame twice, with the device's stamps. */
function transport(frame: Frame, faults: Faults, random: Random, lastAt: Map<number, number>): Frame[] {
  const [drop, repeat, reorder, late, jitter] = [
    random.uniform(),
    random.uniform(),
    random.uniform(),
    random.uniform(),
    random.normal(),
  ];
  const cadence = frame.at - (lastAt.get(frame.channel) ?? frame.at);
  lastAt.set(frame.channel, frame.at);
  if (drop < (faults.dropped ?? 0) || episodeAt(faults, 'gap', frame.ts / 1000)) return [];
  const ts = frame.ts * (1 + (faults.driftPpm ?? 0) / 1e6) + jitter * (faults.jitterMs ?? 0);
  let at = frame.at;
  if (reorder < (faults.reordered ?? 0)) at += cadence * 1.5;
  if (late < (faults.late ?? 0)) at += faults.lateMs ?? 1000;
  const sent = { ...frame, ts, at };
  return repeat < (faults.repeated ?? 0) ? [sent, sent] : [sent];
}

/** Keeps `held` in order of `at`, equals in order of arrival. */
function insert(held: Frame[], frame: Frame): void {
  const place = held.findIndex((other) => other.at > frame.at);
  held.splice(place < 0 ? held.length : place, 0, frame);
}
