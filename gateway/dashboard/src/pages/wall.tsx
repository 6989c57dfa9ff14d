import { useEffect, useRef, useState } from 'preact/hooks';
import type { Listed, Series, SessionRow } from '../../../src/dashboard/schemas.js';
import type { AccountPage } from '../account-page.js';
import { ApiError, api } from '../api.js';
import { type FeedState, LiveFeed } from '../live-feed.js';
import { Painter } from '../painter.js';
import { type Reading, TYPE_NAMES, TYPES } from '../readings.js';
import { Link } from '../router.js';
import { now } from '../service-clock.js';
import { LINE_MS } from '../tile.js';
import { Badge, Empty, Page } from '../ui.js';

/** Most tiles that are shown: nobody can watch more. */
const MOST = 300;
/** New devices that appear within this time, ms, are added to the page together. */
const WELCOME_MS = 50;

const STATES = {
  connecting: ['mute', 'Connecting'],
  connected: ['good', 'Live'],
  away: ['bad', 'Not connected: reconnecting'],
  silent: ['bad', 'The service does not answer'],
} as const satisfies Record<FeedState | 'silent', readonly ['good' | 'mute' | 'bad', string]>;

/** The devices of an account that are streaming now, with their readings. */
export function Wall({ account }: AccountPage) {
  const [painter] = useState(() => new Painter());
  const [state, setState] = useState<FeedState>('connecting');
  const [isSilent, setSilent] = useState(false); // It may stand still without closing the socket.
  const [devices, setDevices] = useState<readonly string[]>();
  useEffect(() => {
    const add = (found: readonly string[]) =>
      setDevices((before = []) => {
        const all = new Set([...before, ...found]);
        return all.size === before.length && before.length > 0 ? before : [...all].sort().slice(0, MOST);
      });
    const open = async () => {
      const path = `/accounts/${account.id}/sessions?status=open&limit=200`;
      const { rows } = await api<Listed<SessionRow>>('GET', path).catch((error: unknown) => {
        setSilent(error instanceof ApiError && error.status === 0);
        throw error;
      });
      setSilent(false);
      add(rows.map(({ device_id }) => device_id));
      return rows;
    };
    const leave = new AbortController();
    void open()
      .then((rows) => seed(rows, painter, leave.signal))
      .catch(() => undefined); // Live readings are shown anyway.
    const timer = setInterval(() => void open().catch(() => undefined), 10_000);
    const strangers = new Set<string>();
    let welcome = 0;
    const feed = new LiveFeed({
      account: account.id,
      onState: setState,
      onReading: (reading) => {
        if (painter.take(reading) || strangers.has(reading.device_id)) return;
        strangers.add(reading.device_id);
        clearTimeout(welcome);
        welcome = window.setTimeout(() => add([...strangers]), WELCOME_MS);
      },
    });
    return () => {
      leave.abort();
      clearInterval(timer);
      clearTimeout(welcome);
      feed.close();
      painter.close();
    };
  }, [account.id, painter]);
  const [tone, text] = STATES[isSilent && state === 'connected' ? 'silent' : state];
  return (
    <Page
      title="Live"
      lead="A dash stands for an unfit reading. A tile without a reading for 10 s shows the age of its last one. The lines show the last five minutes."
      actions={
        <span role="status">
          <Badge tone={tone}>{text}</Badge>
        </span>
      }
    >
      {devices?.length === 0 && (
        <Empty title="No device is streaming">
          Connect one, or <Link to={`/a/${account.id}/start`}>start the simulator</Link>. It then appears here. Earlier
          readings are in the <Link to={`/a/${account.id}/sessions`}>sessions</Link>.
        </Empty>
      )}
      <ul class="wall">
        {devices?.map((device) => (
          <li key={device}>
            <TileFace device={device} account={account.id} painter={painter} />
          </li>
        ))}
      </ul>
    </Page>
  );
}

/** Fetches the last five minutes of sessions, one after the other. */
async function seed(sessions: readonly SessionRow[], painter: Painter, left: AbortSignal): Promise<void> {
  for (const { id, device_id } of sessions) {
    if (left.aborted) return;
    const found = await api<Series[]>('GET', `/sessions/${id}/series?from=${now() - LINE_MS}`);
    painter.seed(
      device_id,
      found.flatMap((series) => readingsOf(series, id, device_id)),
    );
  }
}

function readingsOf(series: Series, session_id: string, device_id: string): Reading[] {
  const { type, unit } = series;
  return series.t.flatMap((t, i): Reading[] => {
    const [value, confidence, sqi_class] = [series.value[i], series.confidence[i], series.quality[i]];
    if (value == null || confidence == null || sqi_class == null) return [];
    return [{ type, value, unit, ts: t + (series.latency[i] ?? 0), session_id, device_id, confidence, sqi_class }];
  });
}

interface FaceProps {
  readonly device: string;
  readonly account: string;
  readonly painter: Painter;
}

/** One device: rendered once, then updated by the painter. */
export function TileFace({ device, account, painter }: FaceProps) {
  const root = useRef<HTMLElement>(null);
  useEffect(() => {
    if (root.current) painter.put(device, root.current);
    return () => painter.remove(device);
  }, [device, painter]);
  return (
    <article class="tile" ref={root} aria-label={device}>
      <header>
        <h2>
          <Link to={`/a/${account}/devices/${encodeURIComponent(device)}`}>{device}</Link>
        </h2>
        <span class="age">waiting for readings</span>
      </header>
      {TYPE_NAMES.map((type) => (
        <div class="reading" key={type} data-type={type}>
          <span class="name">{TYPES[type].name}</span>
          <canvas data-width="110" data-height="26" />
          <span class="number">
            <span class="value">–</span> <span class="word">{TYPES[type].unit}</span>
          </span>
        </div>
      ))}
    </article>
  );
}
