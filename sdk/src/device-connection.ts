import type { Clock } from './clock.js';
import type { CloseInfo, NodeSocket, Socket } from './socket.js';

/** How often the service is asked for a sign of life, ms; it has as long to give one. */
const PING_MS = 15_000;

/**
 * Lives through one connection of a device: hands on what comes, pings (`{"type":"ping"}`, which browsers can send too), and gives a peer up
 * that says nothing. Resolves when the connection is over.
 *
 * @param signal closes it
 */
export function deviceConnection(
  socket: Socket,
  signal: AbortSignal,
  clock: Clock,
  receive: (data: unknown) => void,
): Promise<CloseInfo> {
  return new Promise((resolve) => {
    let heard = true;
    let cancel = () => {};
    const abandon = () => socket.close();
    const finish = (info: CloseInfo) => {
      cancel();
      signal.removeEventListener('abort', abandon);
      resolve(info);
    };
    const beat = () => {
      if (!heard) {
        giveUp(socket);
        return finish({ code: 1006, reason: 'the service says nothing' });
      }
      heard = false;
      if (socket.readyState === 1) socket.send('{"type":"ping"}');
      cancel = clock.after(PING_MS, beat);
    };
    cancel = clock.after(PING_MS, beat);
    signal.addEventListener('abort', abandon);
    socket.onmessage = ({ data }) => {
      heard = true;
      receive(data);
    };
    socket.onerror = () => {};
    socket.onclose = ({ code, reason }) => finish({ code, reason });
  });
}

/** Ends a socket without waiting for the peer, and hears nothing of it any more. */
function giveUp(socket: NodeSocket): void {
  socket.onmessage = null;
  socket.onclose = null;
  if (socket.terminate) socket.terminate();
  else socket.close();
}
