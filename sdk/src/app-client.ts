import type { Health } from './generated/types.gen.js';
import { LiveSubscription } from './live/live.js';
import type { SubscribeOptions } from './live/subscribe-options.js';
import { atLeast, checkOptions, type Rules } from './options.js';
import {
  type Algos,
  type CallOptions,
  type DeviceModels,
  type Insights,
  type Modalities,
  operations,
  type RestOptions,
  type Sessions,
} from './rest/rest.js';
import type { ConnectionOptions } from './socket/connection.js';
import { ACCESS, addressOf } from './socket/service-address.js';
import type { SocketConstructor } from './socket/socket.js';

/** The service's address, the key, and the settings of requests and connections. */
export interface DeviceInsightsOptions extends RestOptions {
  /** Default: the runtime's WebSocket, or else that of the package `ws`. */
  readonly WebSocket?: SocketConstructor;
}

const OPTIONS: Rules<DeviceInsightsOptions> = {
  ...ACCESS,
  WebSocket: true,
  fetch: true,
  backoff: true,
  clock: true,
  timeoutMs: atLeast(0),
  maxResponseBytes: atLeast(1),
  retries: atLeast(0),
};

/** The client of an app: REST and live insights. Every call rejects with ApiError or ConnectionError. */
export class AppClient {
  /** Device models: kinds of devices. */
  declare readonly deviceModels: DeviceModels;
  /** Modality channels of a device model. */
  declare readonly modalities: Modalities;
  /** Sessions, and the insights of one. */
  declare readonly sessions: Sessions;
  /** Stored insights across sessions. */
  declare readonly insights: Insights;
  /** Algorithms. */
  declare readonly algos: Algos;
  /** Health of the ingest and subscribe sockets. */
  declare readonly health: (call?: CallOptions) => Promise<Health>;
  /** Live insights. */
  readonly live: {
    /** Subscribes to the live insights of the key; connects at once. A TypeError says which option is wrong. */
    subscribe(options?: SubscribeOptions): LiveSubscription;
  };
  /** @internal The settings of the client's sockets. */
  protected readonly sockets: ConnectionOptions;

  /**
   * @throws TypeError if `baseUrl` or `apiKey` is missing or malformed, or an option does not exist; it says what to
   * write instead
   */
  constructor(options: DeviceInsightsOptions) {
    checkOptions('a client', options, OPTIONS);
    const sockets = { ...options, baseUrl: addressOf(options.baseUrl) };
    this.sockets = sockets;
    const rest = operations(sockets);
    Object.assign(this, rest);
    this.live = { subscribe: (settings = {}) => new LiveSubscription(settings, sockets, rest.insights.list) };
  }
}
