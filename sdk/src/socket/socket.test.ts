import { expect } from 'chai';
import { WebSocket } from 'ws';
import { type CloseInfo, findWebSocket, onEnd, type Socket, type SocketConstructor } from './socket.js';
import { SocketServer } from './socket-server.fixture.js';

describe('the end of a socket', () => {
  let server: SocketServer;
  beforeEach(() => {
    server = new SocketServer();
  });
  afterEach(() => server.close());

  const endOf = (socket: Socket) => new Promise<CloseInfo>((resolve) => onEnd(socket, resolve));
  const wsUrl = async () => (await server.url()).replace('http', 'ws');
  const classes: [string, () => Promise<SocketConstructor>][] = [
    ['of the runtime', findWebSocket],
    ['of the package ws', async () => WebSocket],
  ];

  for (const [which, find] of classes) {
    it(`${which} has its close code`, async () => {
      const socket = new (await find())(await wsUrl());
      const end = endOf(socket);
      (await server.peer()).socket.close(1012, 'restart');
      expect(await end).to.deep.equal({ code: 1012, reason: 'restart' });
    });

    it(`${which} reports that nothing listens`, async () => {
      const url = await wsUrl();
      await server.close();
      expect(await endOf(new (await find())(url))).to.deep.equal({ code: 1006, reason: '' });
    });

    it(`${which} reports that it was closed before it was open`, async () => {
      const socket = new (await find())(await wsUrl());
      const end = endOf(socket);
      socket.close();
      expect((await end).code).to.equal(1006);
    });
  }

  it('reports a failed attempt that raises only an error, as on Node 22', async () => {
    const socket = { readyState: 0 } as Socket;
    const end = endOf(socket);
    socket.onerror?.({} as never);
    expect(await end).to.deep.equal({ code: 1006, reason: '' });
  });

  it('has the code of the close that follows an error of an open socket', async () => {
    const socket = { readyState: 2 } as Socket;
    const end = endOf(socket);
    socket.onerror?.({} as never);
    socket.onclose?.({ code: 1009, reason: 'too long' } as never);
    expect(await end).to.deep.equal({ code: 1009, reason: 'too long' });
  });
});
