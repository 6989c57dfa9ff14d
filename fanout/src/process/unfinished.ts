import type { WebSocket } from 'ws';

/** The fields that the receiver of `ws` (8.23) keeps of an incomplete message. */
interface Receiver {
  readonly _state: number;
  readonly _bufferedBytes: number;
  readonly _fragmented: number;
}

/** Its state between two frames. */
const BETWEEN_FRAMES = 0;

/** Whether the peer has begun a message, or a frame, and not ended it. `ws` shows this only in undocumented fields. */
export function isUnfinished(ws: WebSocket): boolean {
  const { _receiver: receiver } = ws as unknown as { readonly _receiver: Receiver | null };
  if (!receiver) return false;
  return receiver._state !== BETWEEN_FRAMES || receiver._bufferedBytes > 0 || receiver._fragmented !== 0;
}
