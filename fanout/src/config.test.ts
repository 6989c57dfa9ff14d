import { expect } from 'chai';
import { parseConfig } from './config.js';
import { ConfigError } from './platform/config-error.js';

describe('configuration of a node', () => {
  it('needs only the address of Redis', () => {
    expect(parseConfig({ REDIS_URL: 'redis://cache:6379' })).to.deep.include({
      port: 8090,
      metricsPort: undefined,
      shutdownDelayMs: 0,
      drainMs: 3000,
    });
  });

  it('accepts the servers of a cluster, with TLS', () => {
    const url = 'rediss://user:secret@one:6379, rediss://two:6379';
    expect(parseConfig({ REDIS_URL: url, PORT: '0', METRICS_PORT: '9100' })).to.deep.include({
      redisUrl: url,
      port: 0,
      metricsPort: 9100,
    });
  });

  it('refuses an address of Redis that no client could use, and says what to do', () => {
    for (const url of [
      '',
      'redis://',
      'redis://localhost:notaport',
      'redis://u:p%@host',
      'redis://h/x',
      'redis://h,h',
    ]) {
      expect(() => parseConfig({ REDIS_URL: url }), url).to.throw(ConfigError, /^REDIS_URL must be .*%25/);
    }
    expect(parseConfig({ REDIS_URL: 'redis://u:p%25@host/0' }).redisUrl).to.include('host');
  });

  it('names every fault on its own line', () => {
    const bad = { REDIS_URL: 'http://x', PORT: '-1', METRICS_PORT: '70000', DRAIN_MS: 'soon', LOG_LEVEL: 'loud' };
    try {
      parseConfig(bad);
      expect.fail('accepted');
    } catch (error) {
      expect(error).to.be.instanceOf(ConfigError);
      const { faults } = error as ConfigError;
      expect(faults.map((fault) => fault.split(' ')[0])).to.have.members([
        'REDIS_URL',
        'PORT',
        'METRICS_PORT',
        'DRAIN_MS',
        'LOG_LEVEL',
      ]);
    }
  });
});
