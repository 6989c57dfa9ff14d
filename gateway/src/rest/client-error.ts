import { randomUUID } from 'node:crypto';
import type { Duplex } from 'node:stream';

/**
 * Answers what Node's HTTP parser refuses before there is a request (the server's `clientError` event), in the form of
 * all other refusals.
 */
export function refuseUnparsable(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (!socket.writable || error.code === 'ECONNRESET') return void socket.destroy();
  const [status, detail] = refusal(error.code);
  const body = JSON.stringify({ detail });
  socket.end(
    [
      `HTTP/1.1 ${status}`,
      `X-Request-Id: ${randomUUID()}`,
      'Content-Type: application/json; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(body)}`,
      'Connection: close',
      '',
      body,
    ].join('\r\n'),
  );
}

function refusal(code: string | undefined): readonly [status: string, detail: string] {
  if (code === 'HPE_HEADER_OVERFLOW') return ['431 Request Header Fields Too Large', 'the headers must be shorter'];
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return ['408 Request Timeout', 'the request must come faster'];
  return ['400 Bad Request', 'the request must be valid HTTP/1.1'];
}
