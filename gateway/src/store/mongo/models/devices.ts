import { Schema } from 'mongoose';
import type { Device } from '../../store.js';
import { OPTIONS } from './options.js';

export type DeviceDocument = Device;

export const devices = new Schema<DeviceDocument>(
  {
    accountId: { type: String, required: true },
    deviceId: { type: String, required: true },
    deviceModelId: { type: String, required: true },
    createdAt: { type: Number, required: true },
    problem: String,
  },
  OPTIONS,
);
devices.index({ accountId: 1, deviceId: 1 }, { unique: true });
devices.index({ accountId: 1, createdAt: 1, _id: 1 });
devices.index({ deviceModelId: 1 });
devices.index({ accountId: 1, problem: 1, deviceId: 1 }, { partialFilterExpression: { problem: { $gt: '' } } });
