import { readFileSync, statfsSync, writeFileSync } from 'node:fs';
import { startRedis, type TestRedis } from '@device-insights/fanout/test-redis';
import { simulate } from '@device-insights/sdk/simulator';
import { expect } from 'chai';
import { eventually } from './eventually.js';
import { startFanoutNode } from './fanout-node.js';
import { promtool } from './promtool.js';
import { KEY, Running, run, temporaryFolder } from './running.js';
import { fileOf, type ServerProcess } from './server-process.js';
import { RawSocket } from './socket.js';
import { connect, makeModel, sendFrames, subscribe } from './wearable.js';

const source = simulate({ seconds: 30 });

describe('the metrics of a gateway and a fan-out node', () => {
  const folder = temporaryFolder();
  let redis: TestRedis;
  let gateway: Running;
  let node: ServerProcess;
  let texts: string[];

  before(async function () {
    this.timeout(900_000); // The first run may have to fetch servers and promtool.
    redis = await startRedis();
    const env = { DATA_DIR: folder.path, REDIS_URL: redis.url, METRICS_PORT: '0', LOG_LEVEL: 'info' };
    gateway = await Running.start({ ...env, DASHBOARD: 'on' });
    node = await startFanoutNode(env);
    const modelId = await makeModel(gateway, source);
    const app = await subscribe(node);
    const { socket } = await connect(gateway, 'band', modelId);
    socket.send({ type: 'samples', channel: 0 });
    await sendFrames(socket, source, Date.now() - 30_000, 0, 30);
    await app.next();
    for (const place of [gateway, node])
      expect(await new RawSocket(`${place.wsUrl}/stream/subscribe?api_key=svc_${'0'.repeat(32)}`).closed()).to.include({
        code: 4001,
      });
    const unknown = `${gateway.wsUrl}/stream/ingest?device_id=x&device_model_id=y&api_key=${KEY}`;
    expect(await new RawSocket(unknown).closed()).to.include({ code: 4000 });
    await signIn('nobody');
    await gateway.call('GET', '/v1/sessions');
    await eventually('the sign-in is counted', async () => (await metric('sign_ins_total{outcome="refused"}')) > 0);
    texts = await Promise.all([gateway, node].map(metricsOf));
  });
  after(async () => {
    for (const server of [gateway, node]) await server?.end('SIGKILL');
    await redis?.stop();
    folder.remove();
  });

  const metric = (name: string) => gateway.metric(`device_insights_${name}`);

  async function signIn(name: string): Promise<void> {
    const headers = { origin: gateway.url, 'x-dashboard': '1', 'content-type': 'application/json' };
    const body = JSON.stringify({ name, password: 'wrong' });
    const { status } = await fetch(`${gateway.url}/dashboard/api/sign-in`, { method: 'POST', headers, body });
    expect(status).to.equal(401);
  }

  it('all begin with device_insights_', () => {
    for (const text of texts) {
      const names = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
      expect(names.length).to.be.greaterThan(20);
      for (const name of names) expect(name).to.match(/^device_insights_/);
    }
  });

  it('are valid (promtool check metrics)', () => {
    for (const text of texts) expect(promtool(['check', 'metrics'], text)).to.deep.equal({ code: 0, said: '' });
  });

  it('count requests by route and status, with their time', async () => {
    expect(await metric('http_request_seconds_count{method="GET",route="/v1/sessions",status="200"}')).to.equal(1);
    expect(await metric('http_request_seconds_count{method="POST",route="/v1/device-models",status="201"}')).to.equal(
      1,
    );
  });

  it('count devices, sessions, accepted frames, and refused frames by cause', async () => {
    expect(await metric('ingest_connections')).to.equal(1);
    expect(await metric('ingest_sessions')).to.equal(1);
    expect(await metric('ingest_frames_total')).to.be.greaterThan(30);
    expect(await metric('ingest_frames_refused_total{cause="bad_message"}')).to.equal(1);
    expect(await metric('ingest_refused_total{reason="badRequest"}')).to.equal(1);
  });

  it('count insights by type and class, their age, and the commits', async () => {
    const stored = await metric('insights_total');
    expect(stored).to.be.greaterThan(30);
    expect(await metric('insights_total{type="hr",class="excellent"}')).to.be.within(1, stored - 1);
    expect(await metric('insight_latency_seconds_count')).to.equal(stored);
    expect(await metric('store_commit_seconds_count{outcome="taken"}')).to.be.greaterThan(0);
    expect(await metric('bus_publish_seconds_count{outcome="taken"}')).to.be.greaterThan(0);
  });

  it('count sign-ins and keys that were refused', async () => {
    expect(await metric('sign_ins_total{outcome="refused"}')).to.equal(1);
    expect(await metric('keys_refused_total')).to.be.greaterThan(0);
    for (const place of [gateway, node])
      expect(await place.metric('device_insights_fanout_refused_total{reason="authenticationFailed"}')).to.equal(1);
  });

  it('show the running release, as the first line of the log does', async () => {
    const manifest = readFileSync(fileOf('gateway/dist/package/fanout/package.json'), 'utf8');
    const { version, ...more } = JSON.parse(manifest) as { version: string; commit: string | null };
    const commit = more.commit ?? 'unpackaged';
    for (const place of [gateway, node]) {
      const first = JSON.parse(place.log.split('\n', 1)[0] ?? '') as Record<string, unknown>;
      expect(first).to.include({ version, commit });
      const labels = `version="${version}",commit="${commit}",schema="${first.schema ?? ''}",node="${process.version}"`;
      expect(await place.metric(`device_insights_build_info{${labels}}`)).to.equal(1);
    }
  });

  it('include all that the alerts and the Grafana dashboard use, and the alerts are valid (promtool)', () => {
    const there = new Set(texts.join('\n').match(/(?<=^# TYPE )\S+/gm));
    for (const file of ['alerts.yml', 'grafana.json']) {
      const text = readFileSync(fileOf(`gateway/deploy/${file}`), 'utf8');
      const asked = new Set(text.match(/device_insights_\w+/g)?.map((name) => name.replace(/_(bucket|count)$/, '')));
      expect(asked.size).to.be.greaterThan(10);
      expect([...there]).to.include.members([...asked]);
    }
    expect(promtool(['check', 'rules', fileOf('gateway/deploy/alerts.yml')])).to.include({ code: 0 });
    expect(promtool(['check', 'config', fileOf('gateway/deploy/prometheus.yml')])).to.include({ code: 0 });
  });

  it('have all values of their labels from the start, so that a first count is an increase', () => {
    const [text = '', ofNode = ''] = texts;
    for (const series of [
      'ingest_refused_total{reason="overloaded"}',
      'ingest_frames_refused_total{cause="too_fast"}',
      'insights_total{type="rr",class="unfit"}',
      'store_commit_seconds_count{outcome="failed"}',
      'bus_publish_seconds_count{outcome="refused"}',
      'sign_ins_total{outcome="too many"}',
      'retention_runs_total{outcome="failed"}',
    ])
      expect(text).to.match(new RegExp(`^device_insights_${series.replace(/[{}]/g, '\\$&')} \\d`, 'm'));
    for (const each of [text, ofNode])
      expect(each).to.include('\ndevice_insights_fanout_refused_total{reason="overloaded"} 0\n');
  });

  it('show the parts that work, the free space of the disk, and when the last backup was made', async () => {
    for (const part of ['store', 'ingest', 'clock', 'bus', 'keys', 'nodes'])
      expect(await metric(`part_works{part="${part}"}`), part).to.equal(1);
    for (const part of ['bus', 'keys'])
      expect(await node.metric(`device_insights_part_works{part="${part}"}`), part).to.equal(1);
    const { bavail, bsize } = statfsSync(folder.path);
    expect(await metric('disk_free_bytes')).to.be.closeTo(bavail * bsize, 1e9);
    expect(await metric('last_backup_timestamp_seconds')).to.equal(0);
    const backup = await run('gateway/dist/package/admin.js', ['backup', `${folder.path}/copy.db`], {
      DATA_DIR: folder.path,
    });
    expect(backup.code, backup.stderr).to.equal(0);
    expect(await metric('last_backup_timestamp_seconds')).to.be.closeTo(Date.now() / 1000, 10);
  });

  it('are used by the Grafana dashboard in valid expressions', () => {
    const { panels } = JSON.parse(readFileSync(fileOf('gateway/deploy/grafana.json'), 'utf8')) as {
      panels: { title: string; targets: { expr: string }[] }[];
    };
    const rules = panels.flatMap(({ targets }) => targets.map(({ expr }) => ({ record: 'a:b', expr })));
    expect(rules.length).to.be.greaterThan(20);
    const text = JSON.stringify({ groups: [{ name: 'grafana', rules }] });
    const filled = text.replaceAll('$__rate_interval', '1m').replaceAll('$instance', '.*');
    const file = `${folder.path}/grafana.yml`;
    writeFileSync(file, filled);
    const { code, said } = promtool(['check', 'rules', '--lint=none', file]);
    expect(code, said).to.equal(0);
  });
});

async function metricsOf(place: ServerProcess): Promise<string> {
  return (await fetch(`${place.operationsUrl}/metrics`)).text();
}
