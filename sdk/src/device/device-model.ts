/** A modality channel as the service's REST API takes it. */
export interface ModalityChannel {
  /** Name of the modality, such as `ppg_green`, `ecg` or `accel`: 1 to 64 of `a-z 0-9 _`. */
  readonly modality: string;
  /** Sample instants per second. */
  readonly sample_rate_hz: number;
  /** Bits per sample, 1 to 32. */
  readonly bit_depth: number;
  /** Sub-channels: values in one sample instant. */
  readonly num_channels: number;
}

/**
 * A device's calibration curve of pulse oximetry: SpO2 (%) = a + b R + c R², where R is the ratio of ratios of red to
 * infrared.
 */
export interface Spo2Calibration {
  /** Constant, %. */
  readonly a: number;
  /** Factor of R, %. */
  readonly b: number;
  /** Factor of R², %. Default 0. */
  readonly c?: number;
}

/** The body that creates a device model; the order of its channels is the order of their indices. */
export interface DeviceModelDraft {
  /** Name for people, 1 to 200 characters. */
  readonly name: string;
  /** Description for people. */
  readonly description: string;
  /** Version of the firmware. */
  readonly firmware_version: string;
  /** The channels. */
  readonly modality_channels: ModalityChannel[];
  /** The device's own calibration curve of pulse oximetry. Without one, a generic curve is used. */
  readonly spo2_calibration?: Spo2Calibration;
}
