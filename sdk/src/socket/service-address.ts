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

function parseBaseUrl(value: unknown): string {
  const wrong = (what: string) =>
    new TypeError(`baseUrl must be the service's address, such as https://insights.example; ${what}`);
  if (typeof value !== 'string' || value === '') throw wrong('it is missing');
  const url = urlOf(value);
  if (!url || !/^(http|ws)s?:$/.test(url.protocol)) throw wrong(`it is ${value}`);
  const { protocol, host, pathname, username, search, hash } = url;
  if (username || search || hash) throw wrong('leave out what is more than host and path');
  const path = pathname.replace(/\/+$/, '');
  if (path.endsWith('/v1')) throw wrong('leave out /v1: the client adds it');
  return `${protocol.replace('ws', 'http')}//${host}${path}`;
}

function urlOf(text: string): URL | null {
  try {
    return new URL(text);
  } catch {
    return null;
  }
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
