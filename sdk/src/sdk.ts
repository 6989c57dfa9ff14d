export {
  ApiError,
  AuthenticationError,
  ConflictError,
  ConnectionError,
  NotFoundError,
  PermissionError,
  RateLimitError,
  ServerError,
  ValidationError,
} from './api-error.js';
export { DeviceInsights, type DeviceInsightsOptions, type DeviceNames } from './client.js';
export { Device, type DeviceCounters, type DeviceOptions } from './device.js';
export type { ReadyMessage, RefusedMessage } from './device-messages.js';
export type { DeviceModelDraft, Spo2Calibration } from './device-model.js';
export type { NumberedSamples } from './early-samples.js';
export type { Frame, FrameSource } from './frame.js';
export { encodeFrame } from './frame-encoder.js';
export type {
  Algorithm,
  DeviceModel,
  DeviceModelChange,
  Health,
  Insight,
  ModalityChannel,
  ModalityChannelChange,
  NewDeviceModel,
  NewModalityChannel,
  Session,
} from './generated/types.gen.js';
export type { InsightType, LiveInsight, SqiClass } from './insight.js';
export type { Hole, LiveFilter, LiveSubscription, SubscribeOptions } from './live.js';
export type { Listing, Page } from './page.js';
export { ClosedError, mayReconnect } from './reconnection.js';
export type { CallOptions, CreateOptions, InsightsQuery, Instant, SessionsQuery } from './rest.js';
export { NoWebSocketError, type SocketConstructor } from './socket.js';
