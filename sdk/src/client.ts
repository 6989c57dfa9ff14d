import { Device, type DeviceOptions } from './device.js';
import { LiveSubscription, type SubscribeOptions } from './live.js';
import { Rest, type RestOptions } from './rest.js';
import type { SocketConstructor } from './socket.js';

export interface DeviceInsightsOptions extends RestOptions {
  /** Default: the runtime's WebSocket, else the package `ws`. */
  readonly WebSocket?: SocketConstructor;
}

/** What the client knows by itself when it makes a device. */
export type DeviceNames = Omit<DeviceOptions, 'baseUrl' | 'apiKey' | 'WebSocket' | 'clock' | 'backoff'>;

/** The client of the Device Insights Service: REST, live insights, and devices that stream. */
export class DeviceInsights extends Rest {
  readonly live: { subscribe(options?: SubscribeOptions): LiveSubscription };
  readonly #options: DeviceInsightsOptions;

  constructor(options: DeviceInsightsOptions) {
    super(options);
    this.#options = options;
    this.live = {
      subscribe: (wishes = {}) =>
        new LiveSubscription({ ...wishes, ...this.#sockets(), history: (query) => this.history(query) }),
    };
  }

  /** Connects a device, which then pushes its samples. */
  device(names: DeviceNames): Device {
    return new Device({ ...names, ...this.#sockets() });
  }

  #sockets() {
    const { baseUrl, apiKey, WebSocket, clock, backoff } = this.#options;
    return { baseUrl, apiKey, ...(WebSocket && { WebSocket }), ...(clock && { clock }), ...(backoff && { backoff }) };
  }
}
