import { encodeFrame, type FrameSource } from '@device-insights/sdk';
import { KEY, type Running } from './running.js';
import { RawSocket } from './socket.js';

/** Makes a device model for a source, and gives its id. */
export async function makeModel(service: Running, source: FrameSource): Promise<string> {
  const { status, body } = await service.call<{ id: string }>('POST', '/v1/device-models', source.deviceModel);
  if (status !== 201) throw new Error(`the device model was refused: ${JSON.stringify(body)}`);
  return body.id;
}

/** Connects as a device; resolves with the socket and its `ready` message. */
export async function connect(service: Running, deviceId: string, modelId: string, key = KEY) {
  const query = new URLSearchParams({ device_id: deviceId, device_model_id: modelId, api_key: key });
  const socket = new RawSocket(`${service.wsUrl}/stream/ingest?${query}`);
  const ready = (await socket.next()) as { type: string; session_id: string; resumed: boolean; replay_ms: number };
  return { socket, ready };
}

/** Subscribes at a gateway or a fan-out node; resolves once the subscription is confirmed. */
export async function subscribe(service: { readonly wsUrl: string }, key = KEY): Promise<RawSocket> {
  const socket = new RawSocket(`${service.wsUrl}/stream/subscribe?api_key=${key}`);
  const first = await socket.next();
  if (first.status !== 'subscribed') throw new Error(`the first message was ${JSON.stringify(first)}`);
  return socket;
}

/** Sends the frames of a source from `from` until `to`, seconds of its time; `epoch` is its t = 0 in ms. */
export async function sendFrames(
  socket: RawSocket,
  source: FrameSource,
  epoch: number,
  from: number,
  to: number,
): Promise<void> {
  for await (const frame of source.frames()) {
    if (frame.ts >= to * 1000) return;
    if (frame.ts >= from * 1000) socket.send(encodeFrame({ ...frame, ts: epoch + frame.ts }));
  }
}

/** Number up to which a device's message confirms the first channel, if it is an `ack`; -1 for others. */
export function acknowledged({ type, next_seq }: Record<string, unknown>): number {
  return type === 'ack' ? ((next_seq as Record<string, number>)['0'] ?? -1) : -1;
}
