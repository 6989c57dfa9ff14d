import { Device } from './device/device.js';
import { type DeviceSettings, SETTINGS } from './device/device-options.js';
import { LiveSubscription } from './live/live.js';
import { checkOptions, type SubscribeOptions } from './live/subscribe-options.js';
import { checkNames, type Names } from './options.js';
import type { ReadHistory } from './rest/history.js';
import { Rest, type RestOptions } from './rest/rest.js';
import { parseAccess } from './socket/service-address.js';
import type { SocketConstructor } from './socket/socket.js';

/** The service's address, the key, and the settings of requests and connections. */
export interface DeviceInsightsOptions extends RestOptions {
  /** Default: the runtime's WebSocket, or else that of the package `ws`. */
  readonly WebSocket?: SocketConstructor;
}

const OPTIONS: Names<DeviceInsightsOptions> = {
  baseUrl: true,
  apiKey: true,
  fetch: true,
  timeoutMs: true,
  retries: true,
  backoff: true,
  clock: true,
  WebSocket: true,
};

/** The client of the Device Insights Service: REST, live insights, and devices that stream. */
export class DeviceInsights extends Rest {
  /** Live insights. */
  readonly live: {
    /** Subscribes to the live insights of the key; connects at once. A TypeError says which option is wrong. */
    subscribe(options?: SubscribeOptions): LiveSubscription;
  };
  readonly #options: DeviceInsightsOptions;

  /**
   * @throws TypeError if `baseUrl` or `apiKey` is missing or malformed, or an option does not exist; it says what to
   * write instead
   */
  constructor(options: DeviceInsightsOptions) {
    super(options);
    checkNames('a client', options, OPTIONS);
    this.#options = options;
    this.live = {
      subscribe: (settings = {}) => {
        checkOptions(settings);
        const history: ReadHistory = (query, call) => this.history(query, call);
        return new LiveSubscription({ ...settings, ...this.#sockets(), history });
      },
    };
  }

  /** Connects a device, which then pushes its samples. A TypeError says which option is wrong. */
  device(settings: DeviceSettings): Device {
    checkNames('a device of a client', settings, SETTINGS);
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
