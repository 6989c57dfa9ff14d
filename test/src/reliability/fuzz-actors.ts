import { setTimeout } from 'node:timers/promises';
import { CLOSE } from '@device-insights/contract/close-codes';
import WebSocket from 'ws';
import { type HostileChannel, HostileFrames } from './hostile-frames.js';
import type { Random } from './random.js';

/** An account of the fuzzed service; the names of its devices begin with its own name. */
export interface FuzzAccount {
  readonly name: string;
  readonly key: string;
  readonly models: { readonly id: string; readonly channels: readonly HostileChannel[] }[];
}

/** The objects that the actors share. */
export interface Stage {
  readonly url: string;
  readonly accounts: readonly FuzzAccount[];
  readonly tally: FuzzTally;
  readonly over: AbortSignal;
}

/** The actions of the actors, and the answers. */
export class FuzzTally {
  frames = 0;
  connections = 0;
  requests = 0;
  readonly codes: Record<string, number> = {};
  readonly statuses: Record<string, number> = {};
  /** Violations: events that must not happen. */
  readonly faults: string[] = [];

  count(kind: 'codes' | 'statuses', what: string | number): void {
    this[kind][what] = (this[kind][what] ?? 0) + 1;
  }
}

/** Close codes of the service, and of a connection without a close frame (RFC 6455, 7.4.1). */
const CLOSE_CODES = [...Object.values(CLOSE).map(({ code }) => code as number), 1005, 1006];
/** Bytes waiting in the own socket at which the sender pauses. */
const MAX_WAITING = 2 ** 20;
const BAD_KEYS = ['', 'x', 'svc_', `svc_${'z'.repeat(30)}`, `svc_${'é'.repeat(30)}`];
/** Timeout of the answer to a close, ms. */
const GOODBYE_MS = 1000;

/** A device that sends arbitrary messages, again and again, until the end. */
export async function deviceActor(stage: Stage, random: Random): Promise<void> {
  while (!stage.over.aborted) {
    const account = random.pick(stage.accounts);
    const model = random.pick(account.models);
    const query: Record<string, string> = {
      device_id: random.chance(0.95)
        ? `${account.name}-${random.below(20)}`
        : random.pick(['', ' ', 'ü', 'x'.repeat(200)]),
      device_model_id: random.chance(0.95) ? model.id : random.pick(random.pick(stage.accounts).models).id,
      api_key: random.chance(0.95) ? account.key : random.pick(BAD_KEYS),
      ...(random.chance(0.5) && { clock: `${random.chance(0.9) ? Date.now() : random.u32()}` }),
    };
    const socket = open(stage, `/stream/ingest?${new URLSearchParams(query)}`);
    await opened(socket);
    await stream(stage, socket, new HostileFrames(random, model.channels), random);
    await leave(socket, random, '{"type":"end"}');
  }
}

/**
 * A subscriber that connects, listens, sends unwanted messages, and disconnects. It must receive only data of its
 * account.
 */
export async function subscriberActor(stage: Stage, random: Random): Promise<void> {
  while (!stage.over.aborted) {
    const account = random.pick(stage.accounts);
    const key = random.chance(0.9) ? account.key : random.pick(BAD_KEYS);
    const socket = open(stage, `/stream/subscribe?${new URLSearchParams({ api_key: key })}`);
    socket.on('message', (data) => {
      const { device_id } = JSON.parse(String(data)) as { device_id?: string };
      if (device_id !== undefined) watchOwner(stage, account, device_id, 'live');
    });
    await opened(socket);
    for (let n = random.below(10); n > 0 && socket.readyState === WebSocket.OPEN; n--) {
      if (random.chance(0.3)) socket.send(Buffer.alloc(random.below(random.chance(0.1) ? 9000 : 4096)));
      if (random.chance(0.3)) socket.ping();
      await setTimeout(random.below(200));
    }
    await leave(socket, random, 'bye');
  }
}

/** Records that an account received an insight or a session of `deviceId`. */
export function watchOwner({ tally }: Stage, { name }: FuzzAccount, deviceId: string, where: string): void {
  if (!deviceId.startsWith(`${name}-`)) tally.faults.push(`${name} was shown ${deviceId} (${where})`);
}

function open({ url, tally }: Stage, path: string): WebSocket {
  const socket = new WebSocket(`${url.replace('http', 'ws')}${path}`);
  tally.connections++;
  socket.on('error', () => {});
  socket.on('close', (code) => {
    tally.count('codes', code);
    if (!CLOSE_CODES.includes(code)) tally.faults.push(`closed with ${code}`);
  });
  return socket;
}

function opened(socket: WebSocket): Promise<void> {
  return new Promise((resolve) => {
    socket.once('open', resolve);
    socket.once('close', () => resolve());
  });
}

async function stream(stage: Stage, socket: WebSocket, frames: HostileFrames, random: Random): Promise<void> {
  const pace = random.pick([10, 100, 300]);
  let deviceTime = Date.now() - 300_000;
  for (let n = random.below(400); n > 0 && socket.readyState === WebSocket.OPEN && !stage.over.aborted; n--) {
    deviceTime += pace;
    socket.send(random.chance(0.8) ? Buffer.from(frames.binary(deviceTime)) : frames.text(deviceTime));
    stage.tally.frames++;
    if (random.chance(0.01)) socket.ping();
    if (random.chance(0.002)) socket.send(Buffer.alloc(70_000));
    if (random.chance(0.02)) await setTimeout(random.below(100));
    while (socket.bufferedAmount > MAX_WAITING && socket.readyState === WebSocket.OPEN) await setTimeout(5);
  }
}

/** Disconnects in one of the ways in which clients disconnect. */
async function leave(socket: WebSocket, random: Random, last: string): Promise<void> {
  const kind = random.below(4);
  if (socket.readyState !== WebSocket.OPEN || kind === 0) return socket.terminate();
  if (kind === 1) socket.send(last);
  else socket.close(1000);
  const late = new AbortController();
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  await Promise.race([closed, setTimeout(kind === 3 ? 0 : GOODBYE_MS, undefined, { signal: late.signal })]);
  late.abort();
  socket.terminate();
}
