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

/** The client of an app: REST and live insights. */
export class AppClient extends Rest {
  /** Live insights. */
  readonly live: {
    /** Subscribes to the live insights of the key; connects at once. A TypeError says which option is wrong. */
    subscribe(options?: SubscribeOptions): LiveSubscription;
  };
  /** @internal The settings of the client's sockets. */
  protected readonly sockets: Omit<DeviceInsightsOptions, 'timeoutMs' | 'retries'>;

  /**
   * @throws TypeError if `baseUrl` or `apiKey` is missing or malformed, or an option does not exist; it says what to
   * write instead
   */
  constructor(options: DeviceInsightsOptions) {
    super(options);
    checkNames('a client', options, OPTIONS);
    const { timeoutMs, retries, ...sockets } = options;
    this.sockets = { ...sockets, ...parseAccess(options) };
    const history: ReadHistory = (query, call) => this.history(query, call);
    this.live = {
      subscribe: (settings = {}) => {
        checkOptions(settings);
        return new LiveSubscription({ ...settings, ...this.sockets, history });
      },
    };
  }
}
