import type { DiagnosedNotice, RefusedFrames } from '../store/store.js';

/** The current state of a session in its gateway, for the dashboard. Times are ms since the epoch. */
export interface Inspection {
  readonly connected: boolean;
  /** Time since which the device is connected, or not connected. */
  readonly since: number;
  readonly last_data_at: number | null;
  /** Frames accepted by this gateway. */
  readonly frames: number;
  readonly refused: readonly RefusedFrames[];
  readonly notices: readonly RaisedNotice[];
  readonly channels: readonly ChannelState[];
  /** The signal of the requested channel; null if no channel was requested. */
  readonly signal: Signal | null;
}

/** A notice whose cause still exists. */
export interface RaisedNotice extends Omit<DiagnosedNotice, 'firstAt' | 'lastAt' | 'count' | 'isOver'> {
  readonly at: number;
}

export interface ChannelState {
  readonly index: number;
  readonly modality: string;
  readonly declared_hz: number;
  /** Null while it is not known to 1 %. */
  readonly measured_hz: number | null;
  /** Periods of data time with data in the last ten minutes; bridged gaps count as data. */
  readonly covered: readonly (readonly [start: number, end: number])[];
}

/** The last seconds of a channel since it is displayed, reduced to the smallest and largest samples; null for a gap. */
export interface Signal {
  readonly channel: number;
  /** Data time. */
  readonly t: readonly number[];
  /** One list for each sub-channel (photodiode, lead or axis). */
  readonly lanes: readonly (readonly (number | null)[])[];
}
