import type { Node } from '../../../src/dashboard/node.js';
import { useLoad } from '../api.js';
import { bytes, count, duration } from '../format.js';
import { outputName } from '../readings.js';
import { now } from '../service-clock.js';
import { Badge, Fact, Loading, Page, Panel, Table, When } from '../ui.js';

const REFRESH_MS = 2000;
/**
 * A gateway writes a heartbeat once a second. Without one for this long, ms, it is not shown as up; this gateway is,
 * because it answers, even if the store accepts no writes.
 */
const SILENT_MS = 5000;

/** The health of the service, the load of this gateway, and the versions in use. */
export function Health() {
  const health = useLoad<Node>('/node', REFRESH_MS);
  const node = health.data;
  return (
    <Page title="Health" actions={node && <Verdict node={health.error ? null : node} />}>
      <Loading of={health} rows={6} />
      {node && (
        <>
          {node.reason && (
            <div class="note bad" role="alert">
              <p>{node.cause ?? node.reason}</p>
            </div>
          )}
          <dl class="facts">
            <Fact name="Ingest">{state(node.ingest)}</Fact>
            <Fact name="Subscribe">{state(node.subscribe)}</Fact>
            <Fact name="Service">{node.versions.service}</Fact>
            <Fact name="Node.js">{node.versions.node}</Fact>
          </dl>
          <Load node={node} />
          <Panel title="Gateways">
            <Table
              label="Gateways"
              rows={node.gateways}
              id={({ id }) => id}
              columns={[
                {
                  name: 'Gateway',
                  cell: ({ id }) => (
                    <>
                      <code>{id}</code>
                      {id === node.gateway && <span class="mute"> this gateway</span>}
                    </>
                  ),
                },
                {
                  name: 'State',
                  cell: ({ id, beat }) =>
                    id === node.gateway || now() - new Date(beat).getTime() < SILENT_MS ? (
                      <Badge tone="good">Up</Badge>
                    ) : (
                      <Badge tone="mute">No heartbeat</Badge>
                    ),
                },
                { name: 'Last heartbeat', cell: ({ beat }) => <When at={beat} /> },
              ]}
            />
          </Panel>
          <Panel title="Algorithms">
            <Table
              label="Algorithms"
              rows={node.algorithms}
              id={({ slug }) => slug}
              columns={[
                { name: 'Algorithm', cell: ({ name }) => name },
                { name: 'Reading', cell: ({ type }) => outputName(type) },
                { name: 'Version', cell: ({ slug, version }) => <code>{`${slug}@${version}`}</code> },
                { name: 'Description', kind: 'why', cell: ({ description }) => description },
              ]}
            />
          </Panel>
        </>
      )}
    </Page>
  );
}

/** The health in one word; null if the service does not answer. */
function Verdict({ node }: { readonly node: Node | null }) {
  if (!node) return <Badge tone="mute">Unknown</Badge>;
  const isDegraded = !node.ok && (node.ingest || node.subscribe);
  return isDegraded ? <Badge tone="warn">Degraded</Badge> : state(node.ok);
}

function state(ok: boolean) {
  return ok ? <Badge tone="good">Up</Badge> : <Badge tone="bad">Down</Badge>;
}

function Load({ node: { load } }: { readonly node: Node }) {
  return (
    <Panel title="This gateway">
      <dl class="facts">
        <Fact name="Sessions">
          {count(load.sessions)} <span class="mute">of {count(load.max_sessions)}</span>
        </Fact>
        <Fact name="Devices connected">{count(load.devices)}</Fact>
        <Fact name="Subscribers">{load.subscribers === null ? 'on fan-out nodes' : count(load.subscribers)}</Fact>
        <Fact name="CPU">{Math.round(load.cpu * 100)} % of a core</Fact>
        <Fact name="Memory">{bytes(load.memory_bytes)}</Fact>
        <Fact name="Event loop delay, p99">{load.event_loop_delay_ms.toFixed(1)} ms</Fact>
        <Fact name="Waiting readings">{count(load.waiting_readings)}</Fact>
        <Fact name="Signal core">{(1000 * coreShare(load)).toFixed(2)} ms per second of data</Fact>
        <Fact name="Uptime">{duration(load.uptime_s * 1000)}</Fact>
      </dl>
    </Panel>
  );
}

function coreShare({ core_seconds, core_session_seconds }: Node['load']): number {
  return core_session_seconds === 0 ? 0 : core_seconds / core_session_seconds;
}
