/**
 * One server for the load generator, by name (`node server.js NAME`): prints its port. Publishers send WebSocket
 * messages to /pub: five digits of the channel, then the text; subscribers of channel c connect with the key of
 * `benchKey(c)`.
 */

import { createHash } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import { createMemoryBus } from '../bus/memory.js';
import { Fanout } from '../fanout.js';
import { textFrame } from '../frame.js';
import { holderWith } from '../keys/holder.fixture.js';
import type { KeyCheck } from '../keys/key-check.js';
import { portOf } from '../platform/http-server.js';
import { silentLog } from '../platform/log.fixture.js';

const CHANNELS = 10_000;
const log = { ...silentLog, warn: console.error, error: console.error };
const channelName = (channel: number) => `${channel}`.padStart(5, '0');
const benchKey = (channel: string) => `svc_${'0'.repeat(22)}${channel}`;

const servers: Record<string, (server: Server) => Promise<void>> = { product, loop, reference };

/** The whole product with its in-process bus. */
async function product(server: Server): Promise<void> {
  const bus = createMemoryBus();
  const fanout = new Fanout({ bus, keys: benchKeys(), log });
  onPublish(server, (channel, text) => void bus.publish(channel, [{ text, user: null }]));
  onSubscribe(server, (request, socket, head) => fanout.handleUpgrade(request, socket, head));
}

/** The named baseline, as in a first implementation: a loop of `ws.send(string)`. */
async function loop(server: Server): Promise<void> {
  const channels = new Map<string, Set<WebSocket>>();
  const sockets = new WebSocketServer({ noServer: true });
  onPublish(server, (channel, text) => {
    const all = channels.get(channel) ?? new Set();
    for (const ws of all) {
      if (ws.readyState === ws.OPEN) ws.send(text);
      else all.delete(ws); // No listener for each socket, which would cost memory.
    }
  });
  onSubscribe(server, (request, socket, head) => {
    sockets.handleUpgrade(request, socket, head, (ws) => {
      const channel = (request.url ?? '').slice(-5);
      channels.set(channel, (channels.get(channel) ?? new Set()).add(ws));
      ws.send('{"status":"subscribed"}');
    });
  });
}

/**
 * The bare reference: frames are built once, with one buffer and one write for each turn and socket, and nothing else.
 */
async function reference(server: Server): Promise<void> {
  const channels = new Map<string, Set<Duplex>>();
  const waiting = new Map<string, Buffer[]>();
  const flush = () => {
    for (const [channel, frames] of waiting) {
      const [first] = frames;
      const buffer = first && frames.length === 1 ? first : Buffer.concat(frames);
      for (const socket of channels.get(channel) ?? []) socket.write(buffer);
    }
    waiting.clear();
  };
  onPublish(server, (channel, text) => {
    if (waiting.size === 0) setImmediate(flush);
    const frames = waiting.get(channel) ?? [];
    frames.push(textFrame(text));
    waiting.set(channel, frames);
  });
  onSubscribe(server, (request, socket) => {
    socket.write(acceptance(request.headers['sec-websocket-key'] ?? ''));
    socket.write(textFrame('{"status":"subscribed"}'));
    socket.on('data', () => undefined);
    socket.on('error', () => undefined);
    socket.on('end', () => socket.destroy());
    const channel = (request.url ?? '').slice(-5);
    channels.set(channel, (channels.get(channel) ?? new Set()).add(socket));
    socket.on('close', () => channels.get(channel)?.delete(socket));
  });
}

function acceptance(key: string): string {
  const accept = createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
  const lines = ['HTTP/1.1 101 Switching Protocols', 'Upgrade: websocket', 'Connection: Upgrade'];
  return `${lines.join('\r\n')}\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`;
}

function benchKeys(): KeyCheck {
  const holders = new Map<string, string>();
  for (let channel = 0; channel < CHANNELS; channel++) {
    const name = channelName(channel);
    holders.set(createHash('sha256').update(benchKey(name)).digest('hex'), name);
  }
  return {
    holder: async (hash) => {
      const account = holders.get(hash);
      return account === undefined ? null : holderWith(account);
    },
    onRevoked: () => () => undefined,
  };
}

type Upgrade = (request: Parameters<WebSocketServer['handleUpgrade']>[0], socket: Duplex, head: Buffer) => void;

function onSubscribe(server: Server, run: Upgrade): void {
  server.on('upgrade', (request, socket, head) => {
    if (!request.url?.startsWith('/pub')) run(request, socket, head);
  });
}

function onPublish(server: Server, run: (channel: string, text: string) => void): void {
  const sockets = new WebSocketServer({ noServer: true });
  server.on('upgrade', (request, socket, head) => {
    if (!request.url?.startsWith('/pub')) return;
    sockets.handleUpgrade(request, socket, head, (ws) => {
      ws.on('message', (data) => {
        const message = String(data);
        run(message.slice(0, 5), message.slice(5));
      });
    });
  });
}

const [name = ''] = process.argv.slice(2);
const start = servers[name];
if (!start) throw new Error(`which server? one of ${Object.keys(servers).join(', ')}`);
const server = createServer((_request, response) => response.writeHead(404).end());
await start(server);
server.listen(0, '127.0.0.1', () => console.log(portOf(server)));
