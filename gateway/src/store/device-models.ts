/** Device models that an account can have. */
export const MAX_DEVICE_MODELS = 10_000;

/** The device models. */
export interface DeviceModelStore {
  /**
   * Adds a model; returns false, without changes, if its account has `limit` models already (atomic with the check).
   */
  addDeviceModel(model: DeviceModel, limit?: number): Promise<boolean>;
  deviceModel(id: string): Promise<DeviceModel | null>;
  /**
   * All models of an account, oldest first, in batches of at most about 1 MB, without holding all of them in memory.
   */
  deviceModels(accountId: string): AsyncIterable<DeviceModel[]>;
  /**
   * Reads, changes and writes a model atomically: `change` is pure, may run again if another writer was faster, and may
   * throw, which changes nothing and rejects with its error. Null if the model does not exist.
   */
  changeDeviceModel(id: string, change: (model: DeviceModel) => DeviceModel): Promise<DeviceModel | null>;
  /** Deletes a model unless a device row references it (atomic with the check). */
  deleteDeviceModel(id: string): Promise<'deleted' | 'referenced' | 'missing'>;
}

export interface ModalityChannel {
  readonly ch_id: string;
  readonly modality: string;
  readonly sample_rate_hz: number;
  readonly bit_depth: number;
  readonly num_channels: number;
}

export interface DeviceModel {
  readonly id: string;
  readonly accountId: string;
  readonly name: string;
  readonly description: string;
  readonly firmwareVersion: string;
  readonly channels: readonly ModalityChannel[];
  /** Coefficients a, b[, c] of SpO2 = a + b R + c R²; null if the model has no curve. */
  readonly spo2Curve: readonly number[] | null;
  readonly createdAt: number;
  readonly updatedAt: number;
}
