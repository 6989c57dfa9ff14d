import { expect } from 'chai';
import type { DeviceInsightsOptions } from '../app-client.js';
import { DeviceInsights } from '../client.js';
import { addressOf } from './service-address.js';

const KEY = 'svc_0123456789';

describe('the address and key of a client', () => {
  const client = (options: object) => () => new DeviceInsights(options as DeviceInsightsOptions);
  const addressed = (baseUrl: unknown) => client({ baseUrl, apiKey: KEY });

  it('accept an address with or without a path, of each scheme, with or without a final slash', () => {
    for (const [baseUrl, address] of [
      ['https://insights.example', 'https://insights.example'],
      [' HTTPS://Insights.Example:8443/A\n', 'https://insights.example:8443/A'],
      ['wss://insights.example/', 'https://insights.example'],
      ['ws://127.0.0.1:8080', 'http://127.0.0.1:8080'],
      ['http://[::1]:8080/behind/a/proxy//', 'http://[::1]:8080/behind/a/proxy'],
    ] as const) {
      expect(addressed(baseUrl)).not.to.throw();
      expect(addressOf(baseUrl)).to.equal(address);
    }
  });

  it('refuse an invalid address at once', () => {
    const must = 'baseUrl must be an address such as https://insights.example';
    for (const options of [{ apiKey: KEY }, { baseUrl: 8080, apiKey: KEY }])
      expect(client(options))
        .to.throw(TypeError, must)
        .with.property('message')
        .that.matches(/it is (undefined|8080)$/);
    expect(client({ url: 'http://localhost', apiKey: KEY })).to.throw(
      TypeError,
      'no option "url"; its options are baseUrl',
    );
    for (const invalid of ['localhost:8080', 'insights.example', 'ftp://x', 'http://', 'http:///path', 'http://x:y'])
      expect(addressed(invalid), invalid).to.throw(TypeError, `it is "${invalid}"`);
    for (const invalid of ['', 'http://a b', 'http://[x]'])
      expect(addressed(invalid), invalid).to.throw(TypeError, must);
  });

  it('refuse an address with more than host and path, which may be a secret that the error does not repeat', () => {
    for (const address of ['http://x/v1', 'http://x/v1/', 'wss://x/behind/v1 '])
      expect(addressed(address), address).to.throw(TypeError, 'without /v1');
    for (const address of ['http://x/?a=secret', 'http://x/#secret', 'http://me:secret@x', 'http://x/me:secret@y'])
      expect(addressed(address), address)
        .to.throw(TypeError, 'without /v1, query or password')
        .with.property('message')
        .that.does.not.contain('secret');
  });

  it('refuse an impossible key, which the error does not repeat', () => {
    for (const apiKey of [undefined, null, '', 7, `${KEY}\n`, ` ${KEY}`, `${KEY}…`, `${KEY}\u200b`])
      expect(client({ baseUrl: 'http://x', apiKey }))
        .to.throw(TypeError, 'apiKey must be an API key, without spaces')
        .with.property('message')
        .that.does.not.contain(KEY);
  });
});
