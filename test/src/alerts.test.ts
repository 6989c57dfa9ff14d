import { readFileSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { parse } from 'yaml';
import { promtool } from './promtool.js';
import { temporaryFolder } from './running.js';
import { fileOf } from './server-process.js';

interface Rule {
  readonly alert: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: { readonly summary: string; readonly runbook_url: string };
}

/** Series of one instance by name and labels, in the notation of promtool: a value every 15 s. */
type Series = Readonly<Record<string, string>>;

/** What raises an alert, and what is close to it and must not. */
interface Case {
  readonly bad: Series;
  readonly good: Series;
  /** Time at which it is raised. */
  readonly at: string;
  /** Labels of the alert, besides its severity and its instance. */
  readonly labels?: Readonly<Record<string, string>>;
  /** `$value` as the summary shows it. */
  readonly value?: string;
  readonly interval?: string;
}

const METRIC = /^\w+/;
const slow = (of: string, le: string, beyond: string) => ({
  [`${of}_bucket{le="${le}"}`]: '0+0x60',
  [`${of}_bucket{le="${beyond}"}`]: '0+9x60',
  [`${of}_bucket{le="+Inf"}`]: '0+9x60',
});
const fast = (of: string, le: string) => ({
  [`${of}_bucket{le="${le}"}`]: '0+9x60',
  [`${of}_bucket{le="+Inf"}`]: '0+9x60',
});

const CASES: Readonly<Record<string, Case>> = {
  Down: {
    ...{ bad: { 'up{job="device-insights-gateways"}': '0x60' }, good: { 'up{job="device-insights-fanout"}': '1x60' } },
    ...{ at: '2m', labels: { job: 'device-insights-gateways' } },
  },
  StoreFails: {
    bad: { 'store_commit_seconds_count{outcome="failed"}': '0+1x60' },
    good: {
      'store_commit_seconds_count{outcome="failed"}': '0x60',
      'store_commit_seconds_count{outcome="taken"}': '0+9x60',
    },
    ...{ at: '3m', labels: { outcome: 'failed' } },
  },
  StoreHangs: {
    bad: { store_waiting_insights: '5x60', 'store_commit_seconds_count{outcome="taken"}': '7x60' },
    good: { store_waiting_insights: '5x60', 'store_commit_seconds_count{outcome="taken"}': '0+1x60' },
    at: '4m',
  },
  StoreSlow: {
    ...{ bad: slow('store_commit_seconds', '0.5', '1'), good: fast('store_commit_seconds', '0.5'), at: '10m' },
  },
  Waiting: {
    ...{ bad: { store_waiting_insights: '10001x60' }, good: { store_waiting_insights: '10000x60' } },
    ...{ at: '2m', value: '10001' },
  },
  Late: {
    bad: slow('insight_latency_seconds', '5', '10'),
    ...{ good: fast('insight_latency_seconds', '5'), at: '14m' },
  },
  EventLoopBlocked: {
    bad: { nodejs_eventloop_lag_p99_seconds: '0.2x60' },
    ...{ good: { nodejs_eventloop_lag_p99_seconds: '0.02x60' }, at: '6m' },
  },
  Full: {
    bad: { 'ingest_refused_total{reason="overloaded"}': '0+1x60' },
    good: { 'ingest_refused_total{reason="badRequest"}': '0+1x60' },
    ...{ at: '10m', labels: { reason: 'overloaded' } },
  },
  BusFails: {
    bad: { 'bus_publish_seconds_count{outcome="refused"}': '0+1x60' },
    good: { 'bus_publish_seconds_count{outcome="refused"}': '0x60' },
    ...{ at: '4m', labels: { outcome: 'refused' } },
  },
  BusLost: { bad: { bus_lost_total: '0x8 1x50' }, good: { bus_lost_total: '1x60' }, at: '4m' },
  RedisStrangers: { bad: { redis_dropped_total: '0x8 1x50' }, good: { redis_dropped_total: '1x60' }, at: '4m' },
  Evictions: {
    ...{ bad: { fanout_evictions_total: '0+2x120' }, good: { fanout_evictions_total: '0x120' }, at: '20m' },
  },
  Errors: {
    bad: { 'http_request_seconds_count{route="/v1/sessions",status="503"}': '0+2x60' },
    good: { 'http_request_seconds_count{route="/v1/sessions",status="404"}': '0+99x60' },
    ...{ at: '10m', labels: { route: '/v1/sessions', status: '503' } },
  },
  Guessing: {
    bad: { 'sign_ins_total{outcome="refused"}': '0+4x120' },
    good: { 'sign_ins_total{outcome="signed in"}': '0+4x120', keys_refused_total: '0+1x120' },
    at: '22m',
  },
  Descriptors: {
    bad: { process_open_fds: '950x60', process_max_fds: '1000x60' },
    ...{ good: { process_open_fds: '500x60', process_max_fds: '1000x60' }, at: '6m' },
  },
  Connections: {
    ...{ bad: { connections_dropped_total: '0+1x60' }, good: { connections_dropped_total: '7x60' }, at: '4m' },
  },
  Clock: {
    bad: { clock_error_seconds: '3600x60', clock_behind_seconds: '0x60' },
    good: { clock_error_seconds: '0x60', clock_behind_seconds: '0x60' },
    ...{ at: '2m', value: '1h 0m 0s' },
  },
  MixedVersions: {
    bad: { 'build_info{version="1.0.0"}': '1x300', 'build_info{version="1.1.0"}': '1x300' },
    ...{ good: {}, at: '65m' },
  },
  PartFails: {
    bad: { 'part_works{part="bus"}': '0x60', 'part_works{part="store"}': '1x60' },
    ...{ good: { 'part_works{part="bus"}': '0x2 1x60' }, at: '3m', labels: { part: 'bus' } },
  },
  DiskFills: {
    bad: { disk_free_bytes: '90000000000-50000000x240' },
    ...{ good: { disk_free_bytes: '90000000000x240' }, at: '50m' },
  },
  BackupOld: {
    bad: { last_backup_timestamp_seconds: '0x400' },
    ...{ good: { last_backup_timestamp_seconds: '86400x400' }, at: '50h', interval: '10m' },
  },
  RetentionFails: {
    bad: { 'retention_runs_total{outcome="failed"}': '0+1x100', 'retention_runs_total{outcome="done"}': '0+1x100' },
    good: { 'retention_runs_total{outcome="failed"}': '0x100', 'retention_runs_total{outcome="doubted"}': '0 1x100' },
    ...{ at: '70m', labels: { outcome: 'failed' }, interval: '1m' },
  },
};

describe('the alerts', function () {
  this.timeout(600_000); // The first run may have to fetch promtool.
  const folder = temporaryFolder();
  after(() => folder.remove());
  const path = fileOf('gateway/deploy/alerts.yml');
  const { groups } = parse(readFileSync(path, 'utf8')) as { groups: { rules: Rule[] }[] };
  const rules = groups.flatMap((group) => group.rules);

  it('each lead to their section of the runbook', () => {
    const runbook = readFileSync(fileOf('gateway/deploy/RUNBOOK.md'), 'utf8');
    const sections = [...runbook.matchAll(/^## (\w+)$/gm)].map(([, name]) => name);
    expect(sections).to.deep.equal(rules.map(({ alert }) => alert));
    for (const { alert, annotations } of rules)
      expect(annotations.runbook_url).to.match(new RegExp(`^https://[^#]*/RUNBOOK\\.md#${alert.toLowerCase()}$`));
  });

  for (const { alert, labels, annotations } of rules)
    it(`raise ${alert} for what is meant, and not for what is close to it`, () => {
      const given = CASES[alert.replace('DeviceInsights', '')];
      if (!given) throw new Error(`there is no case for ${alert}`);
      const { bad, good, at, value = '', interval = '15s' } = given;
      const instance = alert === 'DeviceInsightsMixedVersions' ? {} : { instance: 'bad' };
      const shown: Record<string, string> = { ...labels, ...instance, ...given.labels };
      const summary = annotations.summary
        .replace(/\{\{ \$labels\.(\w+) \}\}/g, (_, name: string) => shown[name] ?? '')
        .replace(/\{\{ \$value[^}]*\}\}/, value);
      const seriesOf = (series: Series, of: string) =>
        Object.entries(series).map(([name, values]) => ({ series: seriesName(name, of), values }));
      const test = {
        interval,
        input_series: [...seriesOf(bad, 'bad'), ...seriesOf(good, 'good')],
        alert_rule_test: [
          {
            ...{ eval_time: at, alertname: alert },
            exp_alerts: [{ exp_labels: shown, exp_annotations: { ...annotations, summary } }],
          },
        ],
      };
      const file = `${folder.path}/${alert}.yml`;
      writeFileSync(file, JSON.stringify({ rule_files: [path], evaluation_interval: interval, tests: [test] }));
      const { code, said } = promtool(['test', 'rules', file]);
      expect(code, said).to.equal(0);
    });
});

/** The full name of a series with its instance as a label. */
function seriesName(name: string, instance: string): string {
  const [metric = ''] = METRIC.exec(name) ?? [];
  const labels = name.slice(metric.length).replace(/^\{|\}$/g, '');
  const full = metric === 'up' ? metric : `device_insights_${metric}`;
  return `${full}{${labels}${labels && ','}instance="${instance}"}`;
}
