import { AppClient } from './app-client.js';
import { Device } from './device/device.js';
import type { DeviceSettings } from './device/device-options.js';

/** The client of the Device Insights Service: REST, live insights, and devices that stream. */
export class DeviceInsights extends AppClient {
  /** Connects a device, which then pushes its samples. A TypeError says which option is wrong. */
  device(settings: DeviceSettings): Device {
    return new Device(settings, this.sockets);
  }
}
