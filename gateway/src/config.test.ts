import { expect } from 'chai';
import { ConfigError, configHelp, parseConfig } from './config.js';

function faultsOf(environment: Record<string, string>): readonly string[] {
  try {
    parseConfig(environment);
  } catch (error) {
    if (error instanceof ConfigError) return error.faults;
    throw error;
  }
  return [];
}

describe('the configuration', () => {
  it('has a default for everything', () => {
    expect(parseConfig({})).to.include({ port: 8080, dataDir: './data', sessionGraceMs: 60_000, mongodbUri: null });
  });

  it('leaves a quarter of the sessions to other accounts, unless told otherwise', () => {
    expect(parseConfig({})).to.include({ maxSessions: 2000, maxAccountSessions: 1500 });
    expect(parseConfig({ MAX_SESSIONS: '1' })).to.include({ maxAccountSessions: 1 });
    expect(parseConfig({ MAX_ACCOUNT_SESSIONS: '1024' })).to.include({ maxAccountSessions: 1024 });
  });

  it('treats an empty variable as not set', () => {
    expect(parseConfig({ PORT: '', MONGODB_URI: '' })).to.include({ port: 8080, mongodbUri: null });
  });

  it('names every invalid variable, one line each', () => {
    const faults = faultsOf({ PORT: '99999', LOG_LEVEL: 'loud', BOOTSTRAP_API_KEY: 'secret', MONGODB_URI: 'http://x' });
    expect(faults).to.have.length(4);
    expect(faults.join()).to.match(/PORT must be a whole number from 0 to 65535/);
    expect(faults.join()).to.match(/BOOTSTRAP_API_KEY must be svc_/);
  });

  it('lists every variable that it reads, with its default', () => {
    const help = configHelp();
    expect(help).to.match(/^ {2}PORT +port of REST .* \[8080\]$/m);
    expect(help).to.match(/^ {2}MONGODB_URI +address of MongoDB [^[]*$/m);
  });

  it('refuses numbers in unusual notations', () => {
    for (const PORT of ['1e3', '0x10', '-1', '80.5', ' 80', 'NaN']) expect(faultsOf({ PORT })).to.have.length(1);
  });
});
