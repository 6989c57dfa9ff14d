import { useEffect, useRef, useState } from 'preact/hooks';
import type { NewKey } from '../../../src/dashboard/rows.js';
import type { AccountPage } from '../account-page.js';
import { api } from '../api.js';
import { LiveFeed } from '../live-feed.js';
import { Painter } from '../painter.js';
import type { Simulation } from '../simulation.js';
import { Button, Code, DeviceLink, Failure, Page, Panel } from '../ui.js';
import { TileFace } from './wall.js';

/** First steps: a key, a device, its readings, and a program that gets them. */
export function Start({ account, me }: AccountPage) {
  const [key, setKey] = useState<string>();
  const [error, setError] = useState<Error>();
  const [simulation, setSimulation] = useState<Simulation>();
  const [isStarting, setStarting] = useState(false);
  const running = useRef<Simulation | null>(null);
  useEffect(() => () => void running.current?.stop().catch(() => undefined), []);

  const attempt = (task: () => Promise<void>) => {
    setError(undefined);
    return task().catch((caught: Error) => setError(caught));
  };
  const issue = () =>
    attempt(async () =>
      setKey((await api<NewKey>('POST', `/accounts/${account.id}/keys`, { user: null, expires: null })).key),
    );
  const start = () =>
    attempt(async () => {
      if (!key) return;
      setStarting(true);
      try {
        const { startSimulation } = await import('../simulation.js');
        running.current = await startSimulation(key, setError);
        setSimulation(running.current);
      } finally {
        setStarting(false);
      }
    });
  const stop = () =>
    attempt(async () => {
      await running.current?.stop();
      running.current = null;
      setSimulation(undefined);
    });

  const shownKey = key ?? 'svc_YOUR_KEY';
  return (
    <Page title="Start here" lead={`The first live readings of the account ${account.name}, in a minute.`}>
      {error && <Failure error={error} />}
      <ol class="steps">
        <li class={key ? 'done' : ''}>
          <h2>Issue an API key</h2>
          <p>Devices and apps connect with it. The key is shown only once: store it with your secrets.</p>
          {key ? (
            <Code label="The new API key" text={key} />
          ) : (
            <Button class="primary" onClick={issue} disabled={me.role === 'viewer'}>
              Issue a key
            </Button>
          )}
          {me.role === 'viewer' && <p class="hint">A viewer cannot issue keys: ask an operator.</p>}
        </li>
        <li class={simulation ? 'done' : ''}>
          <h2>Start a device</h2>
          <p>
            A simulated wearable in this page: PPG, ECG and accelerometer, streamed by the SDK as your device would.
          </p>
          {simulation ? (
            <p class="actions">
              <span class="mute">
                <DeviceLink account={account.id} id={simulation.deviceId} /> streams while this page is open.
              </span>
              <Button onClick={stop}>Stop it</Button>
            </p>
          ) : (
            <Button class={key ? 'primary' : ''} onClick={start} disabled={!key || isStarting}>
              Start the simulator
            </Button>
          )}
          {!key && <p class="hint">The simulator needs the key of step 1.</p>}
        </li>
        <li>
          <h2>See its readings</h2>
          {simulation ? (
            <Readings account={account.id} deviceId={simulation.deviceId} />
          ) : (
            <p>Heart rate, SpO₂ and breathing appear here a few seconds after the device starts.</p>
          )}
        </li>
        <li>
          <h2>Read them with a program</h2>
          <div class="two">
            <Panel title="curl">
              <Code
                label="curl command"
                text={`curl '${location.origin}/v1/insights?limit=5' \\\n  -H 'Authorization: Bearer ${shownKey}'`}
              />
            </Panel>
            <Panel title="JavaScript">
              <Code label="JavaScript with the SDK" text={snippet(shownKey)} />
            </Panel>
          </div>
          <p>
            The <a href="/docs">API reference</a> describes everything else, and you can try it there.
          </p>
        </li>
      </ol>
    </Page>
  );
}

function snippet(key: string): string {
  return `import { DeviceInsights } from '@device-insights/sdk';

const client = new DeviceInsights({
  baseUrl: '${location.origin}',
  apiKey: '${key}',
});
for await (const reading of client.live.subscribe({ quality: 'acceptable' })) {
  const { device_id, type, value, unit } = reading;
  console.log(device_id, type, value, unit);
}`;
}

function Readings({ account, deviceId }: { readonly account: string; readonly deviceId: string }) {
  const [painter] = useState(() => new Painter());
  useEffect(() => {
    const onReading = (reading: Parameters<Painter['take']>[0]) => {
      if (reading.device_id === deviceId) painter.take(reading);
    };
    const feed = new LiveFeed({ account, onReading, onState: () => undefined });
    return () => {
      feed.close();
      painter.close();
    };
  }, [account, deviceId, painter]);
  return (
    <div class="wall one">
      <TileFace device={deviceId} account={account} painter={painter} />
    </div>
  );
}
