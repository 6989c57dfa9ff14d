import { matching, type Rules } from '../options.js';

/** The service's address and the API key. */
export interface ServiceAccess {
  /** The service's address, such as `https://insights.example`; without `/v1`. A TypeError says what is wrong with it. */
  readonly baseUrl: string;
  /** An API key of the service, `svc_…`. A TypeError says what is wrong with it. */
  readonly apiKey: string;
}

/**
 * Scheme, host with a port or without, and path, which does not end in `/v1`. By a pattern, because React Native's URL
 * cannot be taken apart.
 */
const ADDRESS =
  /^\s*(?!\S*\/v1\/*\s*$)(?:http|ws)(s?:\/\/(?:[^\s/\\:@?#[\]]+|\[[\da-f:.]+\])(?::\d{1,5})?)((?:\/[^\s\\@?#]*[^\s\\@?#/])?)\/*\s*$/i;

export const ACCESS: Rules<ServiceAccess> = {
  baseUrl: matching(ADDRESS, 'an address such as https://insights.example, without /v1, query or password'),
  apiKey: matching(/^[\x21-\x7e]+$/, 'an API key, without spaces or line ends'),
};

/** The service's address as http or https, with a path or without, and no slash at its end. ws and wss become http and https. */
export function addressOf(baseUrl: string): string {
  return baseUrl.replace(ADDRESS, (_, origin: string, path: string) => `http${origin.toLowerCase()}${path}`);
}

/** A query, with its `?`; values that are undefined are left out. Nothing if there are none. */
export function queryText(values: Readonly<Record<string, unknown>>): string {
  const pairs = Object.entries(values).flatMap(([name, value]) =>
    value === undefined || value === null ? [] : `${name}=${encodeURIComponent(String(value))}`,
  );
  return pairs[0] ? `?${pairs.join('&')}` : '';
}
