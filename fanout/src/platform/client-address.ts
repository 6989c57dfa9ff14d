import type { IncomingMessage } from 'node:http';
import { BlockList, isIP } from 'node:net';

/** Addresses of this machine and of private networks (RFC 1918, RFC 4193), whose `X-Forwarded-For` is trusted. */
const NEAR = new BlockList();
for (const [net, prefix] of [
  ['127.0.0.0', 8],
  ['10.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
] as const)
  NEAR.addSubnet(net, prefix, 'ipv4');
NEAR.addAddress('::1', 'ipv6');
NEAR.addSubnet('fc00::', 7, 'ipv6');

/** The client's address: that of its socket, or the one that the nearest proxy reports. */
export function clientAddress({ socket, headers }: Pick<IncomingMessage, 'socket' | 'headers'>): string {
  const peer = plain(socket.remoteAddress ?? '');
  const forwarded = String(headers['x-forwarded-for'] ?? '');
  const last = plain(withoutPort(forwarded.slice(forwarded.lastIndexOf(',') + 1).trim()));
  return isNear(peer) && isIP(last) > 0 ? last : peer;
}

/** Some proxies add the client's port, and then write an IPv6 address in brackets. */
function withoutPort(place: string): string {
  const [, v6, v4] = /^(?:\[(.+)\](?::\d+)?|([\d.]+):\d+)$/.exec(place) ?? [];
  return v6 ?? v4 ?? place;
}

/** Converts an IPv4-mapped IPv6 address to IPv4. */
function plain(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, '');
}

function isNear(address: string): boolean {
  const family = isIP(address);
  return family > 0 && NEAR.check(address, family === 6 ? 'ipv6' : 'ipv4');
}
