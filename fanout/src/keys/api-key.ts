import { hash } from 'node:crypto';
import { API_KEY } from '@device-insights/contract/parameters';

const HELD_KEY = /svc_[0-9A-Za-z]{22}/;
const BEARER = /^bearer +(\S+) *$/i;

/** Whether a text has the form of an API key. */
export function isKey(text: string): boolean {
  return API_KEY.test(text);
}

/** Whether a text contains something in the form of a key, and so must not be repeated or logged. */
export function holdsKey(text: string): boolean {
  return HELD_KEY.test(text);
}

/** The first characters of a key, by which people recognise it. */
export function prefixOf(key: string): string {
  return key.slice(0, 8);
}

/** SHA-256 of a key, hex: the only form in which keys are kept. */
export function hashKey(key: string): string {
  return hash('sha256', key);
}

/** The key in an `Authorization` header; null if it has none, or none in the form of a key. */
export function keyInHeader(authorization: string): string | null {
  return keyOf(BEARER.exec(authorization)?.[1]);
}

/** The values of `api_key` in a URL's query. */
export function keysInQuery(url: string): string[] {
  const query = url.indexOf('?');
  return query < 0 ? [] : new URLSearchParams(url.slice(query + 1)).getAll('api_key');
}

/** The only one of several texts, if it has the form of a key; otherwise null. */
export function onlyKey(texts: readonly string[]): string | null {
  return texts.length === 1 ? keyOf(texts[0]) : null;
}

function keyOf(text: string | undefined): string | null {
  return text !== undefined && isKey(text) ? text : null;
}
