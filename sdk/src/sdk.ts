export * from './app.js';
export { DeviceInsights } from './client.js';
export { Device, type NumberedSamples } from './device/device.js';
export type { DeviceModelDraft, Spo2Calibration } from './device/device-model.js';
export type { DeviceCounters, DeviceOptions, DeviceSettings } from './device/device-options.js';
export type { Frame, FrameSource } from './device/frame.js';
export { encodeFrame } from './device/frame-encoder.js';
export type { NoticeMessage, ReadyMessage, RefusedMessage } from './device/messages.js';
