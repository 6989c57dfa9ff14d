export { DeviceInsights, type DeviceInsightsOptions } from './client.js';
export { Device } from './device/device.js';
export type { DeviceModelDraft, Spo2Calibration } from './device/device-model.js';
export type { DeviceCounters, DeviceOptions, DeviceSettings } from './device/device-options.js';
export type { NumberedSamples } from './device/early-samples.js';
export type { Frame, FrameSource } from './device/frame.js';
export { encodeFrame } from './device/frame-encoder.js';
export type { NoticeMessage, ReadyMessage, RefusedMessage } from './device/messages.js';
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
export type { Instant } from './instant.js';
export type { InsightType, LiveInsight, SqiClass } from './live/insight.js';
export type { LiveSubscription } from './live/live.js';
export type { Hole, LiveFilter, SubscribeOptions } from './live/subscribe-options.js';
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
} from './rest/api-error.js';
export type { Listing, Page } from './rest/page.js';
export type { CallOptions, CreateOptions, InsightsQuery, SessionsQuery } from './rest/rest.js';
export type { ConnectionState, ConnectionStatus } from './socket/connection-status.js';
export { ClosedError, mayReconnect } from './socket/reconnection.js';
export { NoWebSocketError, type SocketConstructor } from './socket/socket.js';
