import type { NewDeviceModel, Spo2Calibration } from '../generated/types.gen.js';

/** The body that creates the device model of a source, complete; the order of its channels is the order of their indices. */
export interface DeviceModelDraft extends Required<Omit<NewDeviceModel, 'spo2_calibration'>> {
  /** The device's own calibration curve of pulse oximetry. Without one, a generic curve is used. */
  spo2_calibration?: Spo2Calibration;
}

/** A run of consecutive sample instants of one channel, as a device sends it. */
export interface Frame {
  /** Index of the channel in the device model. */
  readonly channel: number;
  /** Number of the first instant: instants are counted per channel, from 0. */
  readonly seq: number;
  /** Device time of the first instant in ms from the source's t = 0; NaN if the device has no clock. */
  readonly ts: number;
  /** Interleaved: the values of an instant's sub-channels, then the next instant's. NaN is a missing value. */
  readonly samples: Float64Array;
  /** Time in ms from t = 0 at which the device sends the frame: when its last instant is complete, or later. */
  readonly at: number;
  /** In a recording: the line of its CSV file that holds the first instant, counted from 1. */
  readonly row?: number;
}

/** A source of frames: a recording or the simulator. */
export interface FrameSource {
  /** Names the device: 1 to 128 of `A-Z a-z 0-9 . _ : -`. */
  readonly id: string;
  /** The device model under which the frames are to be sent. */
  readonly deviceModel: DeviceModelDraft;
  /** All frames, in order of `at`. Each call starts again and gives the same frames. */
  frames(): AsyncIterable<Frame> | Iterable<Frame>;
}
