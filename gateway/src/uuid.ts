import { createHash } from 'node:crypto';

/** The form of ids in the store: UUIDs in lower case. */
export const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Namespace of this project's names (RFC 9562, 5.5); any fixed UUID would do. */
const NAMESPACE = '6f0e3a52-c1d9-4b0f-8a7e-2b9d5c4f1e08';

/** A UUID of version 5 from a name in a namespace (RFC 9562, 5.5): the same name gives the same UUID. */
export function nameUuid(name: string, namespace = NAMESPACE): string {
  const bytes = createHash('sha1').update(namespace.replaceAll('-', ''), 'hex').update(name).digest().subarray(0, 16);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x50, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
