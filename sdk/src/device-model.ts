/** A modality channel as the service's REST API takes it (specification 2.2). */
export interface ModalityChannel {
  readonly modality: string;
  readonly sample_rate_hz: number;
  readonly bit_depth: number;
  /** Sub-channels: values in one sample instant. */
  readonly num_channels: number;
}

/** A device's curve of pulse oximetry: SpO2 (%) = a + b R + c R², R being the ratio of ratios of red to infrared. */
export interface Spo2Calibration {
  readonly a: number;
  readonly b: number;
  readonly c?: number;
}

/** The body that creates a device model (specification 2.1); the order of its channels is the order of their indices. */
export interface DeviceModelDraft {
  readonly name: string;
  readonly description: string;
  readonly firmware_version: string;
  readonly modality_channels: ModalityChannel[];
  readonly spo2_calibration?: Spo2Calibration;
}
