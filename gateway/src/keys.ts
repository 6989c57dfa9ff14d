import { createHash, randomInt } from 'node:crypto';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const SECRET_LENGTH = 32;
const KEY_PATTERN = /^svc_[0-9A-Za-z]{22,128}$/;

/** Makes a new API key: `svc_` and 190 random bits in base62. */
export function newKey(): string {
  return `svc_${Array.from({ length: SECRET_LENGTH }, () => BASE62[randomInt(62)]).join('')}`;
}

/** Whether a text has the form of a key. */
export function isKey(text: string): boolean {
  return KEY_PATTERN.test(text);
}

/** SHA-256 of a key, hex: the only form in which keys are kept. */
export function hashKey(key: string): string {
  return createHash('sha256').update(key).digest('hex');
}
