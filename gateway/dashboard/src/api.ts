import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { now, setBy } from './service-clock.js';

/** A request that the service refused or did not answer; the message says what to do. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

const AWAY = 'the service does not answer: check that it is running and that you are online, then try again';

/** Maximum wait for an answer, ms: the service may hang without closing its connections. */
const LIMIT_MS = { read: 10_000, change: 60_000 };

/** Calls the dashboard's own interface; an object is sent as JSON. Rejects with `ApiError`. */
export async function api<Body>(method: string, path: string, body?: object): Promise<Body> {
  const request = {
    method,
    headers: { 'X-Dashboard': '1', ...(body && { 'Content-Type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(method === 'GET' ? LIMIT_MS.read : LIMIT_MS.change),
  };
  const away = () => {
    throw new ApiError(0, AWAY);
  };
  const response = await fetch(`/dashboard/api${path}`, request).catch(away);
  setBy(response.headers.get('Date'));
  if (response.ok) return (response.status === 204 ? undefined : await response.json().catch(away)) as Body;
  const told = (await response.json().catch(() => ({}))) as { detail?: string };
  if (response.status === 401 && path !== '/sign-in') dispatchEvent(new Event('signed-out'));
  throw new ApiError(response.status, told.detail ?? AWAY);
}

/** Data loaded from a path. If they could not be loaded again, these are the previous ones, with the error. */
export interface Loaded<Body> {
  readonly data: Body | undefined;
  /** Time at which the data were received. */
  readonly at: number | undefined;
  readonly error: Error | undefined;
  reload(): Promise<void>;
}

/** Loads data from a path, again when the path changes, and every `every` ms if that is given. Null loads nothing. */
export function useLoad<Body>(path: string | null, every?: number): Loaded<Body> {
  const [state, setState] = useState<{ path: string | null; data?: Body; at?: number; error?: Error }>({ path });
  const current = useRef(path);
  current.current = path;
  const reload = useCallback(async () => {
    if (path === null) return;
    try {
      const data = await api<Body>('GET', path);
      if (current.current === path) setState({ path, data, at: now() });
    } catch (error) {
      if (current.current === path)
        setState((before) => ({ ...(before.path === path ? before : { path }), error: error as Error }));
    }
  }, [path]);
  useEffect(() => {
    void reload();
    if (every === undefined) return;
    const timer = setInterval(() => void (document.visibilityState === 'visible' && reload()), every);
    return () => clearInterval(timer);
  }, [reload, every]);
  const { data, at, error } = state.path === path ? state : {};
  return { data, at, error, reload };
}

/** A query string of the values that are not empty. */
export function query(values: Readonly<Record<string, string | number | null | undefined>>): string {
  const set = Object.entries(values).filter(([, value]) => value !== null && value !== undefined && value !== '');
  return set.length === 0 ? '' : `?${new URLSearchParams(set.map(([name, value]) => [name, String(value)]))}`;
}
