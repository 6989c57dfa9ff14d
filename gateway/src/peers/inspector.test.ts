import { createMemoryBus } from '@device-insights/fanout/bus/memory';
import { ManualClock } from '@device-insights/fanout/platform/manual-clock.fixture';
import { expect } from 'chai';
import { sampleSession } from '../store/suite/samples.js';
import type { Inspection } from './inspection.js';
import { Inspector } from './inspector.js';

const FOUND: Inspection = {
  ...{ connected: true, since: 1, last_data_at: 2, frames: 3, refused: [], notices: [], channels: [] },
  signal: { channel: 1, t: [1, 2], lanes: [[3, null]] },
};

describe('an inspector', () => {
  const clock = new ManualClock(1000);
  const bus = createMemoryBus();
  const silent = { warn: () => undefined };
  const open = (gateway: string, here: (session: string, channel: number | null) => Inspection | null) =>
    new Inspector({ bus, gateway, here, isPeer: (id) => id.length === 1, clock, log: silent });

  it('requests the state from the gateway that has the session, this one or another one', async () => {
    const asked: unknown[] = [];
    const owner = open('a', (...question) => {
      asked.push(question);
      return FOUND;
    });
    const reader = open('b', () => null);
    await Promise.all([owner.listen(), reader.listen()]);
    const session = sampleSession({ gateway: 'a' });
    expect(await owner.look(session, null)).to.equal(FOUND);
    expect(await reader.look(session, 1)).to.deep.equal(FOUND);
    expect(asked).to.deep.equal([
      [session.id, null],
      [session.id, 1],
    ]);
    expect(await reader.look(sampleSession({ gateway: 'b' }), null)).to.equal(null);
    owner.close();
    reader.close();
  });

  it('waits 1.5 s for an answer, then returns none', async () => {
    const reader = open('c', () => null);
    await reader.listen();
    const look = reader.look(sampleSession({ gateway: 'gone' }), null);
    clock.advance(1500);
    expect(await look).to.equal(null);
    reader.close();
  });

  it('listens again after a lost connection, and ignores foreign messages', async () => {
    const owner = open('d', () => FOUND);
    const reader = open('e', () => null);
    await Promise.all([owner.listen(), reader.listen()]);
    await bus.declareLoss('gateway:d');
    clock.advance(1000);
    await new Promise(setImmediate);
    for (const text of ['', '{', 'null', '[]', '{"ask":1}', '{"answer":"x","found":null}', 'x'.repeat(600_000)])
      await bus.publish('gateway:d', [{ text, user: null }]);
    expect(await reader.look(sampleSession({ gateway: 'd' }), null)).to.deep.equal(FOUND);
    owner.close();
    reader.close();
  });

  it('answers at most 200 requests at once, and none from unknown gateways', async () => {
    const sent: string[] = [];
    const pending: (() => void)[] = [];
    const publish = (channel: string) => {
      sent.push(channel);
      return new Promise<void>((resolve) => pending.push(resolve));
    };
    const stuck = { publish, subscribe: bus.subscribe.bind(bus) };
    const isPeer = (id: string) => id === 'peer';
    const owner = new Inspector({ bus: stuck, gateway: 'g', here: () => FOUND, isPeer, clock, log: silent });
    await owner.listen();
    const ask = async (from: string, count: number) => {
      const text = JSON.stringify({ ask: 'x', from, session: 'y', channel: null });
      await bus.publish('gateway:g', Array(count).fill({ text, user: null }));
    };
    await ask('stranger', 1000);
    expect(sent).to.deep.equal([]);
    await ask('peer', 1000);
    expect(sent).to.deep.equal(Array(200).fill('gateway:peer'));
    for (const end of pending) end();
    await new Promise(setImmediate);
    await ask('peer', 1);
    expect(sent).to.have.length(201);
    owner.close();
  });

  it('answers further requests after 200 whose state could not be taken', async () => {
    const causes: unknown[] = [];
    let answer = (): Inspection => {
      throw new Error('a fault');
    };
    const log = { warn: ({ err }: { err?: unknown }) => void causes.push(err) };
    const owner = new Inspector({ bus, gateway: 'h', here: () => answer(), isPeer: () => true, clock, log });
    const reader = open('i', () => null);
    await Promise.all([owner.listen(), reader.listen()]);
    const text = JSON.stringify({ ask: 'x', from: 'i', session: 'y', channel: null });
    await bus.publish('gateway:h', Array(200).fill({ text, user: null }));
    await new Promise(setImmediate);
    expect(causes.map(String)).to.deep.equal(Array(200).fill('Error: a fault'));
    answer = () => FOUND;
    expect(await reader.look(sampleSession({ gateway: 'h' }), null)).to.deep.equal(FOUND);
    owner.close();
    reader.close();
  });

  it('answers all waiting requests when it is closed', async () => {
    const reader = open('f', () => null);
    await reader.listen();
    const look = reader.look(sampleSession({ gateway: 'gone' }), null);
    reader.close();
    expect(await look).to.equal(null);
  });
});
