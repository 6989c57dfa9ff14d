import { type Clock, pause, systemClock } from '../clock.js';
import type { Device } from '../device/device.js';
import type { FrameSource } from '../device/frame.js';

/** Settings for playing a source. */
export interface PlaybackOptions {
  /** Speed, as a multiple of real time. Default 1; Infinity: as fast as the service accepts it. */
  readonly speed?: number;
  /** Device time of the source's t = 0, ms since the epoch. Default: the time of the call. */
  readonly startTime?: number;
  /** Time after the first sample at which to stop. Default: at the end of the source. */
  readonly seconds?: number;
  /** Stops earlier. */
  readonly signal?: AbortSignal;
  /** Time and timers. Default: the system's. */
  readonly clock?: Clock;
}

/** Bytes waiting in the device at which the source is held back. */
const BACKLOG_BYTES = 2 ** 20;

/**
 * Plays a recording or the simulator through a device, each frame at its time. The session is left open: `device.end()`
 * ends it.
 *
 * @throws the error that stopped the device, and RecordingError if the source cannot be read
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
    if (device.backlogBytes > BACKLOG_BYTES) await room(device, signal);
  }
}

/** Waits until much of the device's backlog is sent, or for the signal: without a connection, nothing is. */
function room(device: Device, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => resolve();
    signal.addEventListener('abort', stop);
    const drained = device.drained(BACKLOG_BYTES / 2).finally(() => signal.removeEventListener('abort', stop));
    drained.then(resolve, reject);
  });
}
