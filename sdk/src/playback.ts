import { type Clock, systemClock } from './clock.js';
import type { Device } from './device.js';
import type { FrameSource } from './frame.js';
import { pause } from './reconnection.js';

export interface PlaybackOptions {
  /** How many times faster than real time. Default 1; Infinity: as fast as the service takes it. */
  readonly speed?: number;
  /** Device time of the source's t = 0, ms since the epoch. Default: the moment of the call. */
  readonly startTime?: number;
  /** Stops before the source ends. */
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
  const { speed = 1, clock = systemClock, signal = new AbortController().signal } = options;
  const begun = clock.now();
  const startTime = options.startTime ?? begun;
  for await (const frame of source.frames()) {
    const wait = begun + frame.at / speed - clock.now();
    if (wait > 0) await pause(clock, wait, signal);
    if (signal.aborted) return;
    device.send({ channel: frame.channel, seq: frame.seq, ts: startTime + frame.ts, samples: frame.samples });
    if (device.backlogBytes > BACKLOG_BYTES) await device.drained(BACKLOG_BYTES / 2);
  }
}
