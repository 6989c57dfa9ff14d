import type { Clock } from '../clock.js';
import { type CloseInfo, giveUp, onEnd, type Socket } from '../socket/socket.js';

/** Interval at which the service is asked for a sign of life, ms; it has the same time to answer. */
const PING_MS = 15_000;

/**
 * Runs one connection of a device: passes messages on, sends pings (`{"type":"ping"}`, which browsers can send too),
 * and closes the connection if the peer is silent. Resolves when the connection has ended.
 *
 * @param signal closes it
 * @param ask called before each ping
 */
export function deviceConnection(
  socket: Socket,
  signal: AbortSignal,
  clock: Clock,
  receive: (data: unknown) => void,
  ask: () => void,
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
        return finish({ code: 1006, reason: 'the service sends nothing' });
      }
      heard = false;
      if (socket.readyState === 1) {
        ask();
        socket.send('{"type":"ping"}');
      }
      cancel = clock.after(PING_MS, beat);
    };
    cancel = clock.after(PING_MS, beat);
    signal.addEventListener('abort', abandon);
    socket.onmessage = ({ data }: { data: unknown }) => {
      heard = true;
      receive(data);
    };
    onEnd(socket, finish);
  });
}
