import { ConfigError } from '@device-insights/fanout/platform/config-error';
import { expect } from 'chai';
import { configHelp, parseConfig } from './config.js';

async function faultsOf(environment: Record<string, string>): Promise<readonly string[]> {
  try {
    await parseConfig(environment);
  } catch (error) {
    if (error instanceof ConfigError) return error.faults;
    throw error;
  }
  return [];
}

/** The first fault. */
const faultOf = async (environment: Record<string, string>) => (await faultsOf(environment))[0];

describe('the configuration', () => {
  it('has a default for everything', async () => {
    expect(await parseConfig({})).to.include({
      port: 8080,
      dataDir: './data',
      sessionGraceMs: 60_000,
      mongodbUri: null,
    });
  });

  it('leaves a quarter of the sessions to other accounts, unless told otherwise', async () => {
    expect(await parseConfig({})).to.include({ maxSessions: 2000, maxAccountSessions: 1500 });
    expect(await parseConfig({ MAX_SESSIONS: '1' })).to.include({ maxAccountSessions: 1 });
    expect(await parseConfig({ MAX_ACCOUNT_SESSIONS: '1024' })).to.include({ maxAccountSessions: 1024 });
  });

  it('treats an empty variable as not set', async () => {
    expect(await parseConfig({ PORT: '', MONGODB_URI: '' })).to.include({ port: 8080, mongodbUri: null });
  });

  it('names every invalid variable, one line each', async () => {
    const faults = await faultsOf({
      PORT: '99999',
      LOG_LEVEL: 'loud',
      BOOTSTRAP_API_KEY: 'secret',
      MONGODB_URI: 'http://x',
    });
    expect(faults).to.have.length(4);
    expect(faults.join()).to.match(/PORT must be a whole number from 0 to 65535/);
    expect(faults.join()).to.match(/BOOTSTRAP_API_KEY must be svc_/);
  });

  it('refuses texts that something was added to, which would open another store or make an unknown password', async () => {
    for (const [name, text] of [
      ['HOST', '127.0.0.1'],
      ['DATA_DIR', '/var/lib/my data'],
      ['DASHBOARD_PASSWORD', 'correct horse battery'],
    ] as const) {
      for (const value of [`${text}\r`, `${text} `, ` ${text}`, ' ', '\t'])
        expect(await faultsOf({ [name]: value }), JSON.stringify(value)).to.deep.equal([
          `${name} must not begin or end with a space or a line end; a file of variables may have Windows line ends`,
        ]);
      expect(await faultsOf({ [name]: text })).to.deep.equal([]);
    }
  });

  it('names the address that is not valid, with what to do and without its password', async () => {
    const redis = ['redis://localhost:notaport', 'redis://u:p%@host', 'redis://', 'redis://h/x', 'redis://h,http://h'];
    for (const REDIS_URL of redis)
      expect(await faultOf({ REDIS_URL }), REDIS_URL).to.match(/^REDIS_URL must be .*%25$/);
    const mongo = ['mongodb://:', 'mongodb://u:p%@host', 'mongodb://h:notaport', 'http://h', 'mongodb://u:secret/x@h'];
    for (const MONGODB_URI of mongo) {
      const [fault, ...others] = await faultsOf({ MONGODB_URI });
      expect(fault, MONGODB_URI).to.match(/^MONGODB_URI must be .*%25/);
      expect(fault).not.to.include('secret');
      expect(others).to.deep.equal([]);
    }
    expect(await faultOf({ MONGODB_URI: 'mongodb://h/?replicas=rs' })).to.include('replicas');
  });

  it('refuses an address of MongoDB without a database, which would be that of the driver', async () => {
    for (const MONGODB_URI of [
      'mongodb://h',
      'mongodb://h/',
      'mongodb://a,b/?replicaSet=rs0',
      'mongodb+srv://h.example.com',
    ])
      expect(await faultOf({ MONGODB_URI }), MONGODB_URI).to.match(
        /^MONGODB_URI must name its database, as in mongodb:/,
      );
  });

  it('serves metrics on the address of HOST, unless METRICS_HOST is set', async () => {
    expect(await parseConfig({ HOST: '0.0.0.0' })).to.include({ metricsHost: '0.0.0.0' });
    expect(await parseConfig({ HOST: '0.0.0.0', METRICS_HOST: '10.0.0.1' })).to.include({ metricsHost: '10.0.0.1' });
  });

  it('accepts addresses with several servers, credentials and options', async () => {
    const REDIS_URL = 'rediss://user:p%25@one:6379, rediss://two:6379/0';
    for (const MONGODB_URI of ['mongodb://u:p%25@a:27017,b/x?replicaSet=rs0', 'mongodb+srv://cluster.example.com/x']) {
      expect(await parseConfig({ REDIS_URL, MONGODB_URI })).to.include({
        redisUrl: REDIS_URL,
        mongodbUri: MONGODB_URI,
      });
    }
  });

  it('refuses a gateway that nobody could subscribe to', async () => {
    expect(await faultOf({ FANOUT_MOUNTED: 'false' })).to.match(/^FANOUT_MOUNTED is false, but REDIS_URL is not set/);
    expect(await parseConfig({ FANOUT_MOUNTED: 'false', REDIS_URL: 'redis://h' })).to.include({ fanoutMounted: false });
  });

  it('lists every variable that it reads, with its default', () => {
    const help = configHelp();
    expect(help).to.match(/^ {2}PORT +port of REST .* \[8080\]$/m);
    expect(help).to.match(/^ {2}MONGODB_URI +address of MongoDB [^[]*$/m);
  });

  it('refuses numbers in unusual notations', async () => {
    for (const PORT of ['1e3', '0x10', '-1', '80.5', ' 80', 'NaN']) expect(await faultsOf({ PORT })).to.have.length(1);
  });
});
