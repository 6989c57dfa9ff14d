import { expect } from 'chai';
import type { Socket } from '../socket/socket.js';
import { LiveConnection } from './connection.js';

describe("a subscription's connection", () => {
  it('is given up if the service does not answer its close', async () => {
    const due = new Set<() => void>();
    const ends: string[] = [];
    const socket = { readyState: 1, close: () => ends.push('close'), terminate: () => ends.push('terminate') };
    const after = (_: number, run: () => void) => {
      due.add(run);
      return () => due.delete(run);
    };
    const abort = new AbortController();
    const { closed } = new LiveConnection(socket as unknown as Socket, {
      signal: abort.signal,
      clock: { now: () => 0, after },
      limit: 1,
      hasMissed: async () => false,
    });
    const [beat] = due;
    abort.abort();
    for (const run of due) if (run !== beat) run();
    expect(await closed).to.include({ code: 1006 });
    expect(ends).to.deep.equal(['close', 'terminate']);
    expect(due.size).to.equal(0);
  });

  it('is not given up for a ping whose answer cannot be heard, as in React Native', async () => {
    let beat = () => {};
    const sent: string[] = [];
    const socket = { readyState: 1, ping: () => sent.push('ping'), send: (text: string) => sent.push(text) };
    const connection = new LiveConnection(socket as unknown as Socket, {
      signal: new AbortController().signal,
      clock: {
        now: () => 0,
        after: (_, run) => {
          beat = run;
          return () => {};
        },
      },
      limit: 1,
      hasMissed: async () => false,
    });
    for (let n = 0; n < 3; n++) beat();
    await new Promise((resolve) => setImmediate(resolve));
    expect([connection.dropped, sent]).to.deep.equal([false, Array(3).fill('{"type":"ping"}')]);
  });

  it('is kept if a message arrives while it asks whether it has missed one', async () => {
    let beat = () => {};
    let answer = (_: boolean) => {};
    const ends: string[] = [];
    const onmessage = (_: { data: string }) => {};
    const socket = { readyState: 1, send: () => {}, close: () => ends.push('close'), onmessage };
    const connection = new LiveConnection(socket as unknown as Socket, {
      signal: new AbortController().signal,
      clock: {
        now: () => 0,
        after: (_, run) => {
          beat = run;
          return () => {};
        },
      },
      limit: 1,
      hasMissed: () =>
        new Promise((resolve) => {
          answer = resolve;
        }),
    });
    for (const arrives of [true, false]) {
      beat();
      beat();
      if (arrives) socket.onmessage({ data: 'an insight' });
      answer(true);
      await new Promise((resolve) => setImmediate(resolve));
      expect([connection.dropped, ends.length]).to.deep.equal(arrives ? [false, 0] : [true, 1]);
    }
  });
});
