import { expect } from 'chai';
import type { DeviceInsightsOptions } from '../app-client.js';
import { DeviceInsights } from '../client.js';
import { Device } from '../device/device.js';
import { parseAccess } from './service-address.js';

const KEY = 'svc_0123456789';

describe('the address and key of a client', () => {
  const client = (options: object) => () => new DeviceInsights(options as DeviceInsightsOptions);
  const addressed = (baseUrl: unknown) => client({ baseUrl, apiKey: KEY });

  it('accept an address with or without a path, of each scheme, with or without a final slash', () => {
    const address = (baseUrl: string) => parseAccess({ baseUrl, apiKey: KEY }).baseUrl;
    expect(address('https://insights.example')).to.equal('https://insights.example');
    expect(address(' HTTPS://Insights.Example:8443/A\n')).to.equal('https://insights.example:8443/A');
    expect(address('wss://insights.example/')).to.equal('https://insights.example');
    expect(address('ws://127.0.0.1:8080')).to.equal('http://127.0.0.1:8080');
    expect(address('http://[::1]:8080/behind/a/proxy//')).to.equal('http://[::1]:8080/behind/a/proxy');
  });

  it('refuse an invalid address at once', () => {
    expect(client({ apiKey: KEY }))
      .to.throw(TypeError, 'baseUrl')
      .with.property('message')
      .that.contains('missing');
    expect(client({ url: 'http://localhost', apiKey: KEY })).to.throw(TypeError, 'missing');
    expect(addressed(8080)).to.throw(TypeError, 'missing');
    expect(addressed('localhost:8080')).to.throw(TypeError, 'such as https://insights.example; it is localhost:8080');
    expect(addressed('insights.example')).to.throw(TypeError, 'it is insights.example');
    for (const invalid of ['http://', 'http:///path', 'http://x:y', 'http://a b', 'http://[x]'])
      expect(addressed(invalid), invalid).to.throw(TypeError, `it is ${invalid}`);
    expect(addressed('ftp://insights.example')).to.throw(TypeError, 'it is ftp://insights.example');
  });

  it('refuse an address with more than host and path', () => {
    for (const address of ['http://x/v1', 'http://x/v1/', 'wss://x/behind/v1'])
      expect(addressed(address), address).to.throw(TypeError, 'leave out /v1');
    for (const address of ['http://x/?a=1', 'http://x/#a', 'http://me:secret@x'])
      expect(addressed(address), address).to.throw(TypeError, 'leave out what is more than host and path');
  });

  it('refuse an impossible key, which the error does not repeat', () => {
    for (const apiKey of [undefined, null, '', 7])
      expect(client({ baseUrl: 'http://x', apiKey })).to.throw(TypeError, 'apiKey is missing');
    for (const apiKey of [`${KEY}\n`, ` ${KEY}`, `${KEY}…`, `${KEY}\u200b`])
      expect(client({ baseUrl: 'http://x', apiKey }))
        .to.throw(TypeError, 'trim what was read from a file')
        .with.property('message')
        .that.does.not.contain(KEY);
  });

  it('are also checked by a stand-alone device', () => {
    const device = () => new Device({ baseUrl: 'x', apiKey: KEY, deviceId: 'a', deviceModelId: 'b' });
    expect(device).to.throw(TypeError, 'baseUrl');
  });
});
