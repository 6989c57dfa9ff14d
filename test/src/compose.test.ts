import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { composeFile, gatewayVariables, imageSources, nodeVariables } from './compose.js';
import { fileOf } from './server-process.js';

const { services, volumes } = composeFile();
const all = Object.entries(services);
const built = all.filter(([, service]) => service.image === 'device-insights/service');
const isNode = ([, { command }]: (typeof all)[number]) => command?.join(' ') === 'fanout';
const gateways = built.filter((one) => !isNode(one)).map(([name]) => name);
const nodes = built.filter(isNode).map(([name]) => name);

describe('docker-compose.yml', () => {
  it('has a store, a bus, two gateways, two fan-out nodes, a proxy, and Prometheus on request', () => {
    expect(gateways).to.deep.equal(['gateway-1', 'gateway-2']);
    expect(nodes).to.deep.equal(['fanout-1', 'fanout-2']);
    expect(Object.keys(services)).to.have.members(['mongo', 'redis', 'proxy', 'prometheus', ...gateways, ...nodes]);
  });

  for (const [name, service] of all)
    it(`keeps ${name} within bounds: health check, limits, no root, nothing it may gain`, () => {
      expect(service.healthcheck?.test?.[0]).to.equal('CMD');
      expect(service.healthcheck?.test?.length).to.be.greaterThan(1);
      for (const word of [...(service.healthcheck?.test ?? []), ...(service.command ?? [])])
        expect(word).to.be.a('string');
      for (const limit of ['cpus', 'memory', 'pids']) expect(service.deploy?.resources?.limits).to.have.property(limit);
      expect(service.user).to.match(/^(node|mongodb|redis|nobody|[1-9]\d*)$/);
      expect(service.cap_drop).to.deep.equal(['ALL']);
      expect(service.security_opt).to.include('no-new-privileges:true');
      expect(service.restart).to.equal('unless-stopped');
    });

  it('sets only known variables', () => {
    for (const name of gateways)
      expect(gatewayVariables()).to.include.members(Object.keys(services[name]?.environment ?? {}));
    for (const name of nodes)
      expect(nodeVariables()).to.include.members(Object.keys(services[name]?.environment ?? {}));
  });

  it('waits only for existing services, and mounts only declared volumes or folders of the repository', () => {
    for (const [, service] of all) {
      expect(Object.keys(services)).to.include.members(Object.keys(service.depends_on ?? {}));
      for (const [source = ''] of (service.volumes ?? []).map((volume) => volume.split(':'))) {
        if (source.startsWith('./')) expect(existsSync(fileOf(source)), source).to.equal(true);
        else expect(Object.keys(volumes)).to.include(source);
      }
    }
  });

  it('publishes only the proxy, and Prometheus only to this host', () => {
    expect(all.filter(([, service]) => service.ports).map(([name]) => name)).to.deep.equal(['proxy', 'prometheus']);
    expect(services.prometheus?.ports).to.deep.equal(['127.0.0.1:9090:9090']);
    expect(services.prometheus?.profiles).to.deep.equal(['metrics']);
  });

  it('builds from Dockerfiles that copy existing files and do not run as root', () => {
    for (const name of [...gateways, ...nodes]) {
      const { context, dockerfile } = services[name]?.build ?? {};
      const text = readFileSync(fileOf(`${context}/${dockerfile}`), 'utf8');
      for (const [, sources = ''] of text.matchAll(/^COPY (?!--from)(.+) \S+$/gm))
        for (const source of sources.split(' ')) expect(existsSync(fileOf(source)), source).to.equal(true);
      expect(text.match(/^FROM /gm)).to.have.length(2);
      expect(text.split(/^FROM /m).at(-1)).to.match(/^USER node$/m);
      expect(text)
        .to.include('npm ci')
        .and.to.match(/^ENTRYPOINT \["device-insights"\]$/m);
    }
  });

  it('leaves tests, suites, fixtures and benches out of the images, and no file that the rest needs', () => {
    const sources = new Set(imageSources());
    for (const entry of ['fanout/src/main.ts', 'gateway/src/main.ts', 'sdk/src/sdk.ts', 'dsp-wasm/src/core.ts'])
      expect(sources).to.include(entry);
    expect([...sources].filter((file) => /test|fixture|suite|\/bench\//.test(file))).to.deep.equal([]);
    for (const file of sources) {
      const text = readFileSync(fileOf(file), 'utf8');
      expect(text, file).to.not.match(/ from '(chai|mocha|fast-check|ioredis|mongodb-memory-server-core)'/);
      for (const [, path = ''] of text.matchAll(/from '(\.[^']+)\.js'/g))
        expect(sources, file).to.include(join(dirname(file), `${path}.ts`));
    }
  });
});
