import { useEffect, useRef, useState } from 'preact/hooks';
import type { Series, StreamingRow } from '../../../src/dashboard/rows.js';
import type { AccountPage } from '../account-page.js';
import { ApiError, api, query } from '../api.js';
import { count } from '../format.js';
import { type FeedState, LiveFeed } from '../live-feed.js';
import { Painter } from '../painter.js';
import { lackOf } from '../problems.js';
import { type Reading, TYPE_NAMES, TYPES } from '../readings.js';
import { Link } from '../router.js';
import { now } from '../service-clock.js';
import { LINE_MS } from '../tile.js';
import { Badge, DeviceLink, Empty, Page, TextField } from '../ui.js';

/** Maximum number of tiles that are shown at once. */
const MOST = 300;
/** New devices that appear within this time, ms, are added to the page together. */
const WELCOME_MS = 50;
/** The service keeps the problems of a session every few seconds. */
const REFRESH_MS = 5000;

const STATES = {
  connecting: ['mute', 'Connecting'],
  connected: ['good', 'Live'],
  away: ['bad', 'Disconnected: reconnecting'],
  silent: ['bad', 'The service does not answer'],
} as const satisfies Record<FeedState | 'silent', readonly ['good' | 'mute' | 'bad', string]>;

/** The devices of an account that are streaming now, with their readings or the reasons why they have none. */
export function Wall({ account }: AccountPage) {
  const [painter] = useState(() => new Painter());
  const [state, setState] = useState<FeedState>('connecting');
  const [known, setKnown] = useState<readonly string[]>();
  const [prefix, setPrefix] = useState('');
  const [isSilent, setSilent] = useState(false); // It may stand still without closing the socket.
  const add = (found: readonly string[]) =>
    setKnown((before = []) => {
      const all = new Set([...before, ...found]);
      return all.size === before.length && before.length > 0 ? before : [...all].sort();
    });
  useEffect(() => {
    const path = `/accounts/${account.id}/streaming${query({ prefix, limit: MOST + 1 })}`;
    const leave = new AbortController();
    let isSeeding = false;
    const load = async () => {
      const found = await api<StreamingRow[]>('GET', path).catch((error: unknown) => {
        setSilent(error instanceof ApiError && error.status === 0);
        return null; // Live readings are shown anyway.
      });
      if (!found || leave.signal.aborted) return;
      setSilent(false);
      for (const row of found) painter.explain(row.device_id, lackOf(row));
      add(found.map(({ device_id }) => device_id));
      if (isSeeding) return;
      isSeeding = true;
      await seed(found.slice(0, MOST), painter, leave.signal).catch(() => undefined);
      isSeeding = false;
    };
    void load();
    const timer = setInterval(() => void load(), REFRESH_MS);
    return () => {
      leave.abort();
      clearInterval(timer);
    };
  }, [account.id, prefix, painter]);
  useEffect(() => {
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
      clearTimeout(welcome);
      feed.close();
      painter.close();
    };
  }, [account.id, painter]);
  const [tone, text] = STATES[isSilent && state === 'connected' ? 'silent' : state];
  const matching = known?.filter((device) => device.startsWith(prefix));
  return (
    <Page
      title="Live"
      lead="A dash stands for an unfit or missing reading, with the reason once it is known. A tile without a reading for 10 s shows the age of its last one. The lines show the last five minutes."
      actions={
        <span role="status">
          <Badge tone={tone}>{text}</Badge>
        </span>
      }
    >
      {known && (known.length > 0 || prefix !== '') && (
        <div class="filters">
          <TextField label="Device id begins with" value={prefix} set={(text) => setPrefix(text.trim())} />
        </div>
      )}
      {known?.length === 0 && (
        <Empty title="No device is streaming">
          Connect one, or <Link to={`/a/${account.id}/start`}>start the simulator</Link>. It then appears here. Earlier
          readings are in the <Link to={`/a/${account.id}/sessions`}>sessions</Link>.
        </Empty>
      )}
      {matching?.length === 0 && prefix !== '' && (
        <Empty title={`No streaming device has an id that begins with ${prefix}`}>Device ids are case-sensitive.</Empty>
      )}
      <ul class="wall">
        {matching?.slice(0, MOST).map((device) => (
          <li key={device}>
            <TileFace device={device} account={account.id} painter={painter} />
          </li>
        ))}
      </ul>
      {matching && matching.length > MOST && (
        <p class="mute">
          {`The first ${MOST} of at least ${count(matching.length)} devices are shown. To see others, enter the beginning of their ids.`}
        </p>
      )}
    </Page>
  );
}

/** Fetches the last five minutes of the devices that lack them, one after the other. */
async function seed(devices: readonly StreamingRow[], painter: Painter, left: AbortSignal): Promise<void> {
  for (const { session_id, device_id } of devices) {
    if (left.aborted) return;
    if (painter.isSeeded(device_id)) continue;
    const found = await api<Series[]>('GET', `/sessions/${session_id}/series?from=${now() - LINE_MS}`);
    painter.seed(
      device_id,
      found.flatMap((series) => readingsOf(series, session_id, device_id)),
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
          <DeviceLink account={account} id={device} />
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
      <p class="why" />
    </article>
  );
}
