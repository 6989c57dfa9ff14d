import { getEventListeners } from 'node:events';
import { expect } from 'chai';
import type { Socket } from '../socket/socket.js';
import { deviceConnection } from './connection.js';

describe("a device's connection", () => {
  function connect() {
    const due: (() => void)[] = [];
    const sent: unknown[] = [];
    const ends: string[] = [];
    const socket = {
      readyState: 1,
      send: (data: unknown) => sent.push(data),
      close: () => ends.push('close'),
      terminate: () => ends.push('terminate'),
    };
    const after = (_: number, run: () => void) => {
      due.push(run);
      return () => {};
    };
    const clock = { now: () => 0, after };
    const typed = socket as unknown as Socket;
    const { signal } = new AbortController();
    const closed = deviceConnection(
      typed,
      signal,
      clock,
      () => {},
      () => {},
    );
    return { closed, due, sent, ends, signal, socket: typed };
  }

  it('sends pings, and stays open while data arrive', () => {
    const { due, sent, ends, socket } = connect();
    due.shift()?.();
    socket.onmessage?.({ data: '{"type":"pong"}' } as never);
    due.shift()?.();
    expect(sent).to.deep.equal(['{"type":"ping"}', '{"type":"ping"}']);
    expect(ends).to.deep.equal([]);
  });

  it('is lost when no data arrive, without waiting for a handshake', async () => {
    const { closed, due, ends, signal } = connect();
    due.shift()?.();
    due.shift()?.();
    expect(await closed).to.include({ code: 1006 });
    expect(ends).to.deep.equal(['terminate']);
    expect(getEventListeners(signal, 'abort')).to.deep.equal([]);
  });
});
