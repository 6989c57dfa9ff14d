/** `node bare.js`: a `ws` server that does not process its frames; prints its port. /echo sends each back, all other paths count them. */
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';

/** Frames between two acknowledgements of a sink. */
const ACK_EVERY = 1000;

function count(socket: WebSocket): void {
  let frames = 0;
  socket.on('message', () => {
    if (++frames % ACK_EVERY === 0) socket.send(`{"ack":${frames}}`);
  });
}

const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
server.on('connection', (socket, { url }) => {
  socket.on('error', () => socket.terminate());
  if (url === '/echo') socket.on('message', (data) => socket.send(data));
  else count(socket);
});
server.on('listening', () => console.log((server.address() as AddressInfo).port));
