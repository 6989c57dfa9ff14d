import { expect } from 'chai';
import type { Socket } from '../socket/socket.js';
import { liveConnection } from './connection.js';

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
    const { closed } = liveConnection(socket as unknown as Socket, {
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
});
