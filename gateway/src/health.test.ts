import { ManualClock } from '@device-insights/fanout/platform/manual-clock.fixture';
import { expect } from 'chai';
import { assertHealthy, type Found, healthOf, type Part } from './health.js';

const STORE = 'the store does not work';

describe('health', () => {
  let clock: ManualClock;
  let logged: { fields: object; text: string }[];
  /** Why the store does not work; null while it does. */
  let fault: string | null;
  let trials: number;
  const log = { info: note, error: note };

  function note(fields: object, text: string) {
    logged.push({ fields, text });
  }

  const store: Part = {
    name: 'store',
    fault: STORE,
    try: () => {
      trials++;
      if (fault) throw new Error(fault);
    },
  };
  const bus: Part = { name: 'bus', fault: 'the bus does not work', try: async () => {} };
  const health = () => only(healthOf({ ingest: [bus, store], subscribe: [bus] }, clock, log));
  const only = (ask: () => Promise<Found>) => async () => (await ask()).health;

  beforeEach(() => {
    clock = new ManualClock();
    logged = [];
    fault = null;
    trials = 0;
  });

  it('is ok if both ingest and subscribe work', async () => {
    expect(await health()()).to.deep.equal({ ok: true, ingest: true, subscribe: true });
    expect(logged).to.deep.equal([]);
  });

  it('names the part that does not work, and shows the cause only to operators', async () => {
    fault = 'connect ECONNREFUSED 10.0.0.7:27017';
    const found = await health()();
    const { cause, ...open } = found;
    expect(open).to.deep.equal({ ok: false, ingest: false, subscribe: true, reason: `ingest: ${STORE}` });
    expect(cause).to.equal(`ingest: ${STORE}: ${fault}`);
    expect(() => assertHealthy(found, 'ok')).to.throw(fault);
    expect(() => assertHealthy(found, 'ingest')).to.throw(fault);
  });

  it('leaves the gateway ready while only subscribers lack something, and names each part', async () => {
    fault = 'connect ECONNREFUSED 10.0.0.8:6379';
    const { health, parts } = await healthOf({ ingest: [bus], subscribe: [store, bus] }, clock, log)();
    assertHealthy(health, 'ingest');
    expect(() => assertHealthy(health, 'ok')).to.throw(fault);
    expect([...parts]).to.deep.equal([
      ['bus', null],
      ['store', `${STORE}: ${fault}`],
    ]);
  });

  it('is checked again after a second, not sooner', async () => {
    const ask = health();
    await Promise.all([ask(), ask()]);
    clock.advance(999);
    await ask();
    expect(trials).to.equal(1);
    clock.advance(1);
    await ask();
    expect(trials).to.equal(2);
  });

  it('logs a fault with its cause once, and its end', async () => {
    const ask = health();
    for (const state of [null, 'the disk is full', 'the disk is full', null, null]) {
      fault = state;
      await ask();
      clock.advance(1000);
    }
    expect(logged).to.deep.equal([
      {
        fields: { reason: `ingest: ${STORE}`, cause: `ingest: ${STORE}: the disk is full` },
        text: 'a part of the service does not work',
      },
      { fields: {}, text: 'all parts work again' },
    ]);
  });

  it('logs a fault again with another cause, but no cause twice', async () => {
    const ask = health();
    for (const state of ['the file is being examined', 'the file is damaged', 'the file is being examined']) {
      fault = state;
      await ask();
      clock.advance(1000);
    }
    expect(logged.map(({ fields }) => fields)).to.deep.equal(
      ['the file is being examined', 'the file is damaged'].map((cause) => ({
        reason: `ingest: ${STORE}`,
        cause: `ingest: ${STORE}: ${cause}`,
      })),
    );
  });

  it('keeps at most a hundred causes, because those of a driver may contain numbers', async () => {
    const ask = health();
    for (let n = 0; n <= 101; n++) {
      fault = `connection ${n % 101} was closed`;
      await ask();
      clock.advance(1000);
    }
    expect(logged).to.have.length(102);
    expect(logged.at(-1)?.fields).to.include({ cause: `ingest: ${STORE}: connection 0 was closed` });
  });

  it('is false, and logged, while a part does not answer', async () => {
    const hung: Part = { name: 'store', fault: STORE, try: () => new Promise(() => undefined) };
    const asked = only(healthOf({ ingest: [hung], subscribe: [] }, clock, log))();
    clock.advance(2000);
    expect(await asked).to.deep.include({ ok: false, cause: `ingest: ${STORE}: no answer for 2 s` });
    expect(logged).to.have.length(1);
  });

  it('answers within half a second with the last result while a part does not answer', async () => {
    let hangs = false;
    const part: Part = {
      name: 'store',
      fault: STORE,
      try: () => (hangs ? new Promise(() => undefined) : Promise.resolve()),
    };
    const ask = only(healthOf({ ingest: [part], subscribe: [] }, clock, log));
    const after = (ms: number) => {
      const answer = ask();
      clock.advance(ms);
      return answer;
    };
    await after(1000);
    hangs = true;
    expect(await after(500)).to.include({ ok: true });
    clock.advance(1500);
    await new Promise((resolve) => setImmediate(resolve)); // The first trial ends.
    expect(await after(500)).to.include({ ok: false, reason: `ingest: ${STORE}` });
  });

  it('does not try a part again that has not answered, and does once it has', async () => {
    let answer = () => {};
    let tries = 0;
    const slow: Part = {
      name: 'store',
      fault: STORE,
      try: () => {
        tries++;
        return new Promise((resolve) => {
          answer = resolve;
        });
      },
    };
    const ask = only(healthOf({ ingest: [slow], subscribe: [] }, clock, log));
    for (let n = 0; n < 3; n++) {
      const asked = ask();
      clock.advance(2000);
      expect((await asked).ok).to.equal(false);
    }
    expect(tries).to.equal(1);
    const asked = ask();
    answer();
    expect((await asked).ok).to.equal(true);
    clock.advance(1000);
    void ask();
    expect(tries).to.equal(2);
    answer();
  });

  it('is checked again after a second, even if the clock was set back meanwhile', async () => {
    const ask = health();
    expect((await ask()).ok).to.equal(true);
    clock.step(-3_600_000);
    fault = 'the disk is full';
    clock.advance(1000);
    expect((await ask()).ok).to.equal(false);
  });
});
