/** Checks of what callers of the core give; they cost nothing for each sample. */

import type { CoreChannel, Modality, StepRequest } from './core.js';
import { BYTES_PER_SAMPLE, type Encoding } from './encoding.js';
import { ESTIMATORS } from './estimators.js';
import type { CoreSession } from './session.js';

/** Numbers of the modalities in assembly/memory/channel.ts. */
export const KIND: Readonly<Record<Modality, number>> = {
  ppg: 0,
  ppg_green: 1,
  ppg_red: 2,
  ppg_ir: 3,
  ecg: 4,
  accel: 5,
  resp: 6,
};

/** Maximum number of sub-channels, as in the ingest protocol. */
const MAX_SUB_CHANNELS = 64;

/** @throws TypeError or RangeError if it is not a whole number of 1 or more */
export function checkMaxSessions(maxSessions: number): void {
  if (typeof maxSessions !== 'number') throw new TypeError(`maxSessions is ${shown(maxSessions)}; it must be a number`);
  if (!Number.isInteger(maxSessions) || maxSessions < 1)
    throw new RangeError(`maxSessions is ${maxSessions}; it must be a whole number of 1 or more`);
}

/** @throws TypeError or RangeError that names the first field of a channel that is out of range */
export function checkChannels(channels: readonly CoreChannel[]): void {
  if (!Array.isArray(channels)) throw new TypeError('channels must be an array');
  channels.forEach((channel: Partial<CoreChannel> | null, i) => {
    const { modality, sampleRateHz, numChannels } = channel ?? {};
    if (typeof modality !== 'string' || !Object.hasOwn(KIND, modality))
      throw new RangeError(
        `channels[${i}].modality is ${shown(modality)}; it must be one of ${Object.keys(KIND).join(', ')}`,
      );
    if (typeof sampleRateHz !== 'number' || !(sampleRateHz > 0 && sampleRateHz < Number.POSITIVE_INFINITY))
      throw new RangeError(`channels[${i}].sampleRateHz is ${shown(sampleRateHz)}; it must be a rate above 0 Hz`);
    if (!isWhole(numChannels, MAX_SUB_CHANNELS))
      throw new RangeError(
        `channels[${i}].numChannels is ${shown(numChannels)}; it must be a whole number from 1 to ${MAX_SUB_CHANNELS}`,
      );
  });
}

/** @throws RangeError if a session has no channel of that index */
export function checkChannel(channel: number, channels: readonly CoreChannel[]): void {
  if (channels[channel] === undefined)
    throw new RangeError(`channel is ${shown(channel)}; the session has ${channels.length} channels, numbered from 0`);
}

/** @throws RangeError for an unknown source of beats */
export function checkSource(source: string, sources: readonly string[]): void {
  if (!sources.includes(source))
    throw new RangeError(`source is ${shown(source)}; it must be one of ${sources.join(', ')}`);
}

/**
 * @param numChannels sub-channels of the channel that is pushed to
 * @throws TypeError or RangeError for times that are not finite, an unknown encoding, or part of an instant
 */
export function checkPush(
  t: number,
  period: number,
  encoding: Encoding,
  payload: Uint8Array,
  numChannels: number,
): void {
  if (!Number.isFinite(t)) throw new RangeError(`t is ${shown(t)}; it must be a time in seconds`);
  if (!(period > 0 && period < Number.POSITIVE_INFINITY))
    throw new RangeError(`period is ${shown(period)}; it must be a time above 0 seconds`);
  const bytes: number | undefined = BYTES_PER_SAMPLE[encoding];
  if (bytes === undefined) throw new RangeError(`encoding is ${shown(encoding)}; it must be a value of ENCODING`);
  if (!(payload instanceof Uint8Array)) throw new TypeError('payload must be a Uint8Array');
  if (payload.length % (bytes * numChannels) !== 0)
    throw new RangeError(
      `payload has ${payload.length} bytes; it must hold whole instants of ${bytes * numChannels} bytes (${numChannels} samples of ${bytes})`,
    );
}

/** @throws TypeError or RangeError for a request without a session, of an unknown estimator, or between two seconds */
export function checkRequests(requests: readonly StepRequest[], isSession: (session: CoreSession) => boolean): void {
  for (const { session, estimator, end } of requests) {
    if (!isSession(session)) throw new TypeError('session must be one that open() has returned');
    if (!ESTIMATORS.includes(estimator))
      throw new RangeError(`estimator is ${shown(estimator)}; it must be one of ${ESTIMATORS.join(', ')}`);
    if (!Number.isInteger(end)) throw new RangeError(`end is ${shown(end)}; it must be a whole number of seconds`);
  }
}

function isWhole(value: unknown, most: number): boolean {
  return typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= most;
}

function shown(value: unknown): string {
  return typeof value === 'string' ? JSON.stringify(value) : String(value);
}
