import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { pythonProgram } from '@device-insights/gateway/test-python';
import { expect } from 'chai';
import { Redis } from 'ioredis';
import { parse } from 'yaml';
import { App } from './app.js';
import { type ComposeService, gatewayVariables, nodeVariables } from './compose.js';
import { eventually } from './eventually.js';
import { startFanoutNode } from './fanout-node.js';
import { hostFile, SecureRedis } from './hosts.js';
import { Operator } from './operator.js';
import { Running, temporaryFolder } from './running.js';
import { fileOf, type ServerProcess } from './server-process.js';
import { Stream } from './stream.js';

const ROLES = ['data', 'gateway', 'fanout', 'proxy'] as const;

const servicesOf = (role: (typeof ROLES)[number]) =>
  (parse(hostFile(`compose.${role}.yml`), { merge: true }) as { services: Record<string, ComposeService> }).services;
const environment = (role: 'gateway' | 'fanout') => servicesOf(role)[role]?.environment ?? {};

describe('the files for several hosts', () => {
  it('are compose files, as docker-compose.yml is, by the schema of the compose specification', async function () {
    this.timeout(600_000); // The first run may have to install the program.
    const program = await pythonProgram('check-jsonschema==0.39.0', 'check-jsonschema');
    const files = ['docker-compose.yml', ...ROLES.map((role) => `gateway/deploy/hosts/compose.${role}.yml`)];
    execFileSync(program, ['--builtin-schema', 'vendor.compose-spec', ...files.map(fileOf)], { stdio: 'pipe' });
  });

  for (const role of ROLES)
    it(`keep the role ${role} within bounds: health check, limits, no root, no public port, no password`, () => {
      for (const [name, service] of Object.entries(servicesOf(role))) {
        expect(
          service.healthcheck?.test?.every((word) => typeof word === 'string'),
          name,
        ).to.equal(true);
        for (const limit of ['cpus', 'memory', 'pids'])
          expect(service.deploy?.resources?.limits, name).to.have.property(limit);
        expect(service.user, name).to.match(/^(node|mongodb|redis|101)$/);
        expect(service.cap_drop, name).to.deep.equal(['ALL']);
        expect(service.security_opt, name).to.deep.equal(['no-new-privileges:true']);
        for (const port of service.ports ?? []) expect(port, name).to.match(/^\$\{(ADDRESS:\?|LISTEN:-127\.0\.0\.1)/);
      }
    });

  it('set only variables that the programs know, and no password', () => {
    expect([...gatewayVariables(), 'NODE_EXTRA_CA_CERTS']).to.include.members(Object.keys(environment('gateway')));
    expect([...nodeVariables(), 'NODE_EXTRA_CA_CERTS']).to.include.members(Object.keys(environment('fanout')));
    for (const url of [
      environment('gateway').MONGODB_URI,
      environment('gateway').REDIS_URL,
      environment('fanout').REDIS_URL,
    ])
      expect(url).to.match(/^(mongodb|rediss):\/\/\w+:\$\{\w+_PASSWORD:\?[\w ]+\}@/);
  });

  it('give the proxy an address for each server of nginx.conf', () => {
    const servers = [...readFileSync(fileOf('gateway/deploy/nginx.conf'), 'utf8').matchAll(/^ +server ([\w-]+):\d+/gm)];
    const { extra_hosts } = servicesOf('proxy').proxy as ComposeService & { extra_hosts: string[] };
    expect(new Set(extra_hosts.map((line) => line.split(':')[0]))).to.deep.equal(
      new Set(servers.map(([, name]) => name)),
    );
  });

  it('configure mongod with TLS, passwords and the replica set that the gateways name', () => {
    const { net, security, replication } = parse(hostFile('mongod.conf')) as Record<string, Record<string, unknown>>;
    expect(net?.tls).to.include({ mode: 'requireTLS' });
    expect(security).to.include({ authorization: 'enabled' }).and.to.have.property('keyFile');
    const uri = new URL(
      environment('gateway')
        .MONGODB_URI?.replace(/\$\{[^}]*\}/, 'x')
        .replace(/,.*:\d+/, '') ?? '',
    );
    expect(uri.searchParams.get('replicaSet')).to.equal(replication?.replSetName);
    expect(uri.searchParams.get('tls')).to.equal('true');
    expect(Number(uri.port)).to.equal(net?.port);
  });

  it('mount only existing files, or files that the handbook creates', () => {
    for (const role of ROLES)
      for (const service of Object.values(servicesOf(role)))
        for (const [source = ''] of (service.volumes ?? []).map((volume) => volume.split(':')))
          if (source.startsWith('.') && !source.startsWith('./tls/'))
            expect(existsSync(fileOf(`gateway/deploy/hosts/${source}`)), source).to.equal(true);
    expect(readdirSync(fileOf('gateway/deploy/hosts'))).to.include.members(['mongod.conf', 'redis.conf', 'users.acl']);
  });
});

describe('the bus with the Redis of the data hosts', () => {
  const passwords = { gateway: 'g-secret', fanout: 'f-secret' };
  const folder = temporaryFolder();
  let redis: SecureRedis;
  let gateway: Running;
  let node: ServerProcess;
  let app: App | undefined;
  let stream: Stream | undefined;

  /** The REDIS_URL of the compose file, with the password and the address of this Redis. */
  const urlOf = (role: 'gateway' | 'fanout') =>
    (environment(role).REDIS_URL ?? '')
      .replace(/\$\{[^}]*\}/, passwords[role])
      .replace('data-1:6379', `127.0.0.1:${redis.port}`);

  before(async function () {
    this.timeout(600_000); // The first run may have to install Redis.
    redis = await SecureRedis.start(passwords);
    const common = { NODE_EXTRA_CA_CERTS: redis.authority, METRICS_PORT: '0' };
    const bus = { ...common, REDIS_URL: urlOf('gateway'), FANOUT_MOUNTED: 'false' };
    gateway = await Running.start({ ...bus, DATA_DIR: folder.path });
    node = await startFanoutNode({ ...common, REDIS_URL: urlOf('fanout') });
  });
  after(async () => {
    app?.close();
    stream?.abandon();
    for (const server of [gateway, node]) await server?.end('SIGKILL');
    await redis?.stop();
    folder.remove();
  });

  const client = (role: 'gateway' | 'fanout') => {
    const options = { username: role, password: passwords[role], tls: { ca: readFileSync(redis.authority) } };
    return new Redis(redis.port, '127.0.0.1', { ...options, maxRetriesPerRequest: 0, enableReadyCheck: false });
  };

  it('brings readings to subscribers of a fan-out node, and closes them when their key is revoked', async () => {
    const well = async () => (await gateway.healthz()) === 200 && (await node.healthz()) === 200;
    await eventually('both are healthy', well, 20_000);
    const operator = new Operator({ DATA_DIR: folder.path });
    const issued = await operator.issue('default');
    app = new App([node], issued.key);
    stream = await Stream.start(gateway);
    await eventually('insights flow', () => (app?.insights.length ?? 0) >= 5, 20_000);
    await operator.revoke(issued.id);
    await eventually('the socket is closed', () => app?.codes.includes(4001) === true);
    for (const { log } of [gateway, node]) expect(log).not.to.include('NOPERM');
  });

  async function expectRefused(redis: Redis, ...commands: (readonly [name: string, ...words: string[]])[]) {
    for (const [name, ...words] of commands)
      expect(await redis.call(name, ...words).catch(String), name).to.match(/NOPERM|No permissions/);
    redis.disconnect();
  }

  it('lets a fan-out node neither publish readings nor make keys valid', async () => {
    const redis = client('fanout');
    expect(await redis.hget('di:keys', 'copied')).to.equal('1');
    await expectRefused(
      redis,
      ['SPUBLISH', 'di:live:x', '{}'],
      ['HSET', 'di:keys', 'x', '{}'],
      ['HDEL', 'di:keys', 'x'],
      ['FLUSHALL'],
      ['GET', 'other'],
      ['CONFIG', 'GET', '*'],
    );
  });

  it('lets a gateway touch nothing but the keys and the channels', () =>
    expectRefused(client('gateway'), ['SET', 'other', '1'], ['PUBLISH', 'other', '1'], ['FLUSHALL'], ['ACL', 'LIST']));

  it('refuses clients without a password, and clients without TLS', async () => {
    const options = { maxRetriesPerRequest: 0, retryStrategy: () => null, enableReadyCheck: false };
    const nobody = new Redis(redis.port, '127.0.0.1', { ...options, tls: { ca: readFileSync(redis.authority) } });
    nobody.on('error', () => {});
    expect(await nobody.ping().catch(String)).to.include('NOAUTH');
    nobody.disconnect();
    const plain = new Redis(redis.port, '127.0.0.1', { ...options, username: 'gateway', password: passwords.gateway });
    plain.on('error', () => {});
    expect(await plain.ping().catch(String)).to.match(/closed|ECONNRESET|EPIPE/i);
    plain.disconnect();
  });
});
