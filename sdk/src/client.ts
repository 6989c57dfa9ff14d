import { Device } from './device/device.js';
import type { DeviceOptions } from './device/device-options.js';
import { LiveSubscription } from './live/live.js';
import type { SubscribeOptions } from './live/subscribe-options.js';
import { Rest, type RestOptions } from './rest/rest.js';
import { parseAccess } from './socket/service-address.js';
import type { SocketConstructor } from './socket/socket.js';

/** The service's address, the key, and the settings of requests and connections. */
export interface DeviceInsightsOptions extends RestOptions {
  /** Default: the runtime's WebSocket, or else that of the package `ws`. */
  readonly WebSocket?: SocketConstructor;
}

/** Options of a device that a client makes; the client adds its own address, key and connection settings. */
export type DeviceSettings = Omit<DeviceOptions, 'baseUrl' | 'apiKey' | 'WebSocket' | 'clock' | 'backoff' | 'fetch'>;

/** The client of the Device Insights Service: REST, live insights, and devices that stream. */
export class DeviceInsights extends Rest {
  /** Live insights. */
  readonly live: {
    /** Subscribes to the live insights of the key; connects at once. A TypeError says which option is wrong. */
    subscribe(options?: SubscribeOptions): LiveSubscription;
  };
  readonly #options: DeviceInsightsOptions;

  /** @throws TypeError if `baseUrl` or `apiKey` is missing or malformed; it says what to write instead */
  constructor(options: DeviceInsightsOptions) {
    super(options);
    this.#options = options;
    this.live = {
      subscribe: (settings = {}) =>
        new LiveSubscription({ ...settings, ...this.#sockets(), history: (query, call) => this.history(query, call) }),
    };
  }

  /** Connects a device, which then pushes its samples. */
  device(settings: DeviceSettings): Device {
    return new Device({ ...settings, ...this.#sockets() });
  }

  #sockets() {
    const { baseUrl, apiKey, WebSocket, clock, backoff, fetch } = this.#options;
    return {
      ...parseAccess({ baseUrl, apiKey }),
      ...(WebSocket && { WebSocket }),
      ...(clock && { clock }),
      ...(backoff && { backoff }),
      ...(fetch && { fetch }),
    };
  }
}
