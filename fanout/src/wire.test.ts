import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { TLSSocket } from 'node:tls';
import { expect } from 'chai';
import { portOf } from './platform/http-server.js';
import { descriptorOf, writeNow } from './wire.js';

const CHUNK = Buffer.alloc(256 * 1024, 'x');

describe('the wire under a socket', () => {
  let server: Server;
  let near: Socket;
  let far: Socket;

  beforeEach(async () => {
    server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const accepted = once(server, 'connection');
    far = connect(portOf(server), '127.0.0.1');
    [[near]] = (await Promise.all([accepted, once(far, 'connect')])) as [[Socket], []];
    near.on('error', () => undefined);
  });

  afterEach(() => {
    for (const socket of [near, far]) socket.destroy();
    server.close();
  });

  const descriptor = () => descriptorOf(near) ?? -1;

  it('exists for a TCP socket, and ends with it', () => {
    expect(descriptorOf(near)).to.be.a('number');
    near.destroy();
    expect(descriptorOf(near)).to.equal(undefined);
  });

  it('does not exist if bytes are encrypted first, or without a socket', () => {
    expect(descriptorOf(new TLSSocket(near))).to.equal(undefined);
    expect(descriptorOf(new Duplex())).to.equal(undefined);
  });

  it('accepts bytes at once, until the peer stops reading', async () => {
    let sent = 0;
    let taken = CHUNK.length;
    while (taken > 0) {
      taken = writeNow(descriptor(), CHUNK);
      sent += taken;
    }
    near.end();
    let read = 0;
    for await (const bytes of far) read += (bytes as Buffer).length;
    expect(read).to.equal(sent);
  });

  it('accepts no bytes if the connection is broken', async () => {
    far.resetAndDestroy();
    expect(near.destroyed).to.equal(false); // Node has not been told yet.
    expect(writeNow(descriptor(), CHUNK)).to.equal(0);
  });
});
