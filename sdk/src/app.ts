/** What an app needs that shows readings: the client without devices. */
export { AppClient as DeviceInsights, type DeviceInsightsOptions } from './app-client.js';
export type {
  Algorithm,
  Beat,
  DeviceModel,
  DeviceModelChange,
  Health,
  Insight,
  ModalityChannel,
  ModalityChannelChange,
  NewDeviceModel,
  NewModalityChannel,
  Session,
  Summary,
} from './generated/types.gen.js';
export type { Instant } from './instant.js';
export type { InsightType, LiveInsight, SqiClass } from './live/insight.js';
export type { LiveSubscription } from './live/live.js';
export type { Hole, LiveFilter, SubscribeOptions } from './live/subscribe-options.js';
export { ApiError, ConnectionError } from './rest/api-error.js';
export type { Listing, Page } from './rest/page.js';
export type { CallOptions, InsightsQuery, SessionsQuery } from './rest/rest.js';
export type { ConnectionState, ConnectionStatus } from './socket/connection.js';
export { ClosedError, mayReconnect } from './socket/reconnection.js';
export type { SocketConstructor } from './socket/socket.js';
