import { type Clock, systemClock } from './clock.js';
import type { Device } from './device.js';
import type { FrameSource } from './frame.js';
import { pause } from './reconnection.js';

export interface PlaybackOptions {
  /** How many times faster than real time. Default 1; Infinity: as fast as the service takes it. */
  readonly speed?: number;
  /** Device time of the source's t = 0, ms since the epoch. Default: the moment of the call. */
  readonly startTime?: number;
  /** Stops so long after the first sample. Default: when the source ends. */
  readonly seconds?: number;
  /** Stops earlier. */
  readonly signal?: AbortSignal;
  readonly clock?: Clock;
}

/** What may wait in the device before the source is held back, bytes. */
const BACKLOG_BYTES = 2 ** 20;

/**
 * Plays a recording or the simulator through a device, each frame at its moment. The session is left open: `device.end()` ends it.
 *
 * @throws what stopped the device, and RecordingError where the source cannot be read
 */
export async function play(source: FrameSource, device: Device, options: PlaybackOptions = {}): Promise<void> {
  const {
    speed = 1,
    seconds = Number.POSITIVE_INFINITY,
    clock = systemClock,
    signal = new AbortController().signal,
  } = options;
  const begun = clock.now();
  const end = begun + 1000 * seconds;
  const startTime = options.startTime ?? begun;
  for await (const frame of source.frames()) {
    const due = begun + frame.at / speed;
    const wait = Math.min(due, end) - clock.now();
    if (wait > 0) await pause(clock, wait, signal);
    if (signal.aborted || due > end) return;
    device.send({ channel: frame.channel, seq: frame.seq, ts: startTime + frame.ts, samples: frame.samples });
    if (device.backlogBytes > BACKLOG_BYTES) await device.drained(BACKLOG_BYTES / 2);
  }
}
