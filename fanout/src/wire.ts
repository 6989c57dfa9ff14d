import { writeSync } from 'node:fs';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { TLSSocket } from 'node:tls';

/**
 * The descriptor under a socket, for `writeNow`; undefined where its bytes do not go to the kernel as they are (TLS) or there is none
 * (Windows, a socket that is gone). Node keeps it in a field that it does not document: without it, the socket's own `write` does.
 */
export function descriptorOf(socket: Duplex): number | undefined {
  if (!(socket instanceof Socket) || socket instanceof TLSSocket) return undefined;
  const { _handle: handle } = socket as { _handle?: { readonly fd?: unknown } | null };
  return typeof handle?.fd === 'number' && handle.fd >= 0 ? handle.fd : undefined;
}

/**
 * One write(2), without the request object, callback and state that `socket.write` makes for each: a tenth of the cost of a delivery.
 * Returns how many bytes the kernel took: none where its buffer is full or the connection is broken, which the socket's own `write` is
 * then to find out. The caller makes sure that the descriptor is still the socket's (not destroyed) and that nothing is queued before.
 */
export function writeNow(descriptor: number, bytes: Buffer): number {
  try {
    return writeSync(descriptor, bytes);
  } catch {
    return 0;
  }
}
