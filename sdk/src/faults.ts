import type { Frame } from './frame.js';
import { Random } from './random.js';

/** What may go wrong on the way from the sensor to the service. Shares are of frames, 0 to 1; all default to none. */
export interface Faults {
  /** Share of frames that are lost: their numbers are skipped. */
  readonly dropped?: number;
  /** Share of frames that are sent twice. */
  readonly repeated?: number;
  /** Share of frames that are sent after the frame which follows them on their channel. */
  readonly reordered?: number;
  /** Share of frames that are sent `lateMs` (default 1000) after they were complete. */
  readonly late?: number;
  readonly lateMs?: number;
  /** Parts per million by which the device's clock runs fast. */
  readonly driftPpm?: number;
  /** Standard deviation of the stamps' error, ms. */
  readonly jitterMs?: number;
  /** Stretches of time with their own fault. */
  readonly episodes?: readonly Episode[];
}

/**
 * A stretch of time, `from` to before `until` in seconds. `gap`: nothing is sent. `motion`: the arm swings (`strength` in g,
 * default 0.8). `noise`: white noise on every sensor (`strength` as a multiple of the pulse, default 2). `saturation`: the signal
 * sits at the rail. `off`: the sensor has lost the skin.
 */
export interface Episode {
  readonly kind: 'gap' | 'motion' | 'noise' | 'saturation' | 'off';
  readonly from: number;
  readonly until: number;
  readonly strength?: number;
}

/** The episode of `kind` at `t` seconds, if there is one. */
export function episodeAt(faults: Faults, kind: Episode['kind'], t: number): Episode | undefined {
  return faults.episodes?.find((episode) => episode.kind === kind && t >= episode.from && t < episode.until);
}

/**
 * Sends frames over a bad way: the same frames with the transport's faults, in order of `at`. Which frames are hit depends on
 * the seed alone.
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

/** What becomes of one frame: nothing, itself, or itself twice, with the device's stamps. */
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
