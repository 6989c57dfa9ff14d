/** `node bare.js`: a `ws` server that only counts its frames, and acknowledges some; prints its port. */
import type { AddressInfo } from 'node:net';
import { WebSocketServer } from 'ws';

/** Frames between two acknowledgements. */
const ACK_EVERY = 1000;

const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
server.on('connection', (socket) => {
  let frames = 0;
  socket.on('error', () => socket.terminate());
  socket.on('message', () => {
    if (++frames % ACK_EVERY === 0) socket.send(`{"ack":${frames}}`);
  });
});
server.on('listening', () => console.log((server.address() as AddressInfo).port));
