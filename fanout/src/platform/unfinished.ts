import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** Bytes of a client's control frame without its payload: header and mask (RFC 6455, section 5.2). */
const CONTROL_BYTES = 6;

/**
 * Bytes that a socket has received. If they are more than when the last message ended, and than the pings and pongs since then,
 * the peer has begun a message and not ended it, which `ws` does not tell.
 */
export function bytesRead(socket: Duplex): number {
  return socket instanceof Socket ? socket.bytesRead : 0;
}

/** The number of bytes at which all frames had ended, after a ping or pong. */
export function endOfControl(socket: Duplex, ended: number, payload: Buffer): number {
  return Math.min(bytesRead(socket), ended + CONTROL_BYTES + payload.length);
}
