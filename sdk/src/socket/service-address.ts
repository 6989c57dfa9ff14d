/** The service's address and the API key, both checked. */
export interface ServiceAccess {
  /** http or https, with a path or without, and no slash at its end. */
  readonly baseUrl: string;
  readonly apiKey: string;
}

/**
 * Checks a service's address and an API key. ws and wss become http and https.
 *
 * @throws TypeError that says what to write instead; it never contains the key
 */
export function parseAccess({
  baseUrl,
  apiKey,
}: {
  readonly baseUrl: unknown;
  readonly apiKey: unknown;
}): ServiceAccess {
  return { baseUrl: parseBaseUrl(baseUrl), apiKey: parseKey(apiKey) };
}

/** Scheme, host with a port or without, and path. By a pattern, because React Native's URL cannot be taken apart. */
const ADDRESS = /^(http|ws)(s?):\/\/([^\s/\\:[\]]+|\[[\da-f:.]+\])(:\d{1,5})?((?:\/[^\s\\]*)?)$/i;

function parseBaseUrl(value: unknown): string {
  const wrong = (what: string) =>
    new TypeError(`baseUrl must be the service's address, such as https://insights.example; ${what}`);
  if (typeof value !== 'string' || value === '') throw wrong('it is missing');
  if (/[?#]|\/\/[^/]*@/.test(value)) throw wrong('leave out what is more than host and path');
  const [address, , secure = '', host = '', port = '', path = ''] = ADDRESS.exec(value.trim()) ?? [];
  if (address === undefined) throw wrong(`it is ${value}`);
  const folder = path.replace(/\/+$/, '');
  if (folder.endsWith('/v1')) throw wrong('leave out /v1: the client adds it');
  return `http${secure.toLowerCase()}://${host.toLowerCase()}${port}${folder}`;
}

/** A query, with its `?`; values that are undefined are left out. Nothing if there are none. */
export function queryText(values: Readonly<Record<string, unknown>>): string {
  const pairs = Object.entries(values).filter(([, value]) => value !== undefined && value !== null);
  const texts = pairs.map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`);
  return texts.length === 0 ? '' : `?${texts.join('&')}`;
}

function parseKey(value: unknown): string {
  if (typeof value !== 'string' || value === '')
    throw new TypeError('apiKey is missing: give an API key of the service');
  if (/[^\x21-\x7e]/.test(value))
    throw new TypeError(
      'apiKey contains a space, a line end or another character that no key has: trim what was read from a file',
    );
  return value;
}
