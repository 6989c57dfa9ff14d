import { Schema } from 'mongoose';
import type { DeviceModel } from '../../store.js';
import { channel, type Document, OPTIONS } from './options.js';

/**
 * `revision` counts the changes: a change is written only if the revision is still the one that was read. `touched`
 * changes with each device row that comes to refer to the model, so that a concurrent deletion conflicts.
 */
export type DeviceModelDocument = Document<DeviceModel> & { revision: number; touched: number };

export const deviceModels = new Schema<DeviceModelDocument>(
  {
    _id: String,
    accountId: { type: String, required: true },
    name: { type: String, required: true },
    description: String,
    firmwareVersion: String,
    channels: [channel],
    spo2Curve: { type: [Number], default: null },
    createdAt: { type: Number, required: true },
    updatedAt: Number,
    revision: { type: Number, required: true },
    touched: Number,
  },
  OPTIONS,
);
deviceModels.index({ accountId: 1, createdAt: 1, _id: 1 });
