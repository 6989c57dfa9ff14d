import { writeSync } from 'node:fs';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { TLSSocket } from 'node:tls';

/**
 * The descriptor of a socket, for `writeNow`; undefined if its bytes do not go to the kernel unchanged (TLS) or there
 * is none (Windows, a closed socket). Node keeps it in an undocumented field: without it, the socket's own `write` is
 * used.
 */
export function descriptorOf(socket: Duplex): number | undefined {
  if (!(socket instanceof Socket) || socket instanceof TLSSocket) return undefined;
  const { _handle: handle } = socket as { _handle?: { readonly fd?: unknown } | null };
  return typeof handle?.fd === 'number' && handle.fd >= 0 ? handle.fd : undefined;
}

/**
 * One write(2), without the request object, callback and state that `socket.write` creates for each: 2.9 instead of 3.4
 * us of CPU for 250 bytes to each of 500 sockets on loopback (Node 20). Returns the number of bytes that the kernel
 * accepted: none if its buffer is full or the connection is broken, which the socket's own `write` then detects. The
 * caller makes sure that the descriptor still belongs to the socket (which is not destroyed) and that nothing is queued
 * before.
 */
export function writeNow(descriptor: number, bytes: Buffer): number {
  try {
    return writeSync(descriptor, bytes);
  } catch {
    return 0;
  }
}

/**
 * Gives whole frames to the kernel, at once if nothing waits before them; the remainder waits in the socket's queue.
 * Returns whether the kernel accepted them completely.
 */
export function hand(socket: Duplex, descriptor: number | undefined, frames: Buffer): boolean {
  const isDirect = descriptor !== undefined && socket.writableLength === 0 && !socket.destroyed;
  const taken = isDirect ? writeNow(descriptor, frames) : 0;
  if (taken === frames.length) return true;
  socket.write(taken === 0 ? frames : frames.subarray(taken));
  return socket.writableLength === 0 && !socket.errored && !socket.destroyed;
}
