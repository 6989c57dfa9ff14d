export * from './app.js';
export { DeviceInsights } from './client.js';
export type { Device, NumberedSamples } from './device/device.js';
export type { DeviceCounters, DeviceSettings } from './device/device-options.js';
export type { DeviceModelDraft, Frame, FrameSource } from './device/frame.js';
export { encodeFrame } from './device/frame-encoder.js';
export type { NoticeMessage, ReadyMessage, RefusedMessage } from './device/messages.js';
export type { Spo2Calibration } from './generated/types.gen.js';
