import { expect } from 'chai';
import { CheckQueue, CheckRefused } from './check-queue.js';

describe('a queue of password checks', () => {
  const failures = new Map<string, number>();
  let now: number;
  let queue: CheckQueue;
  let begun: string[];
  let end: () => void;

  beforeEach(() => {
    queue = new CheckQueue();
    begun = [];
    failures.clear();
    now = 0;
  });

  const add = (address: string, signal = new AbortController().signal, since = now++) => {
    const check = () => {
      begun.push(address);
      return new Promise<void>((resolve) => {
        end = resolve;
      });
    };
    return queue
      .run({ address, failures: () => failures.get(address) ?? 0, since }, check, signal)
      .catch((error: unknown) => error);
  };
  /** Ends the running check and all that follow. */
  const endAll = async () => {
    for (let count = 0; count < begun.length; ) {
      count = begun.length;
      end();
      await new Promise<void>((resolve) => setImmediate(resolve));
    }
  };

  it('runs one at a time: first those whose client has failed least, of these the one seen last', async () => {
    for (const [address, count] of Object.entries({ twice: 2, once: 1, 'once too': 1 })) failures.set(address, count);
    for (const address of ['first', 'twice', 'once', 'new', 'once too', 'newest']) void add(address);
    expect(begun).to.deep.equal(['first']);
    await endAll();
    expect(begun).to.deep.equal(['first', 'newest', 'new', 'once too', 'once', 'twice']);
  });

  it('lets a client that was seen before not overtake by another attempt', async () => {
    const { signal } = new AbortController();
    for (const [address, since] of Object.entries({ first: 0, operator: 9, stranger: 5 }))
      void add(address, signal, since);
    await endAll();
    expect(begun).to.deep.equal(['first', 'operator', 'stranger']);
  });

  it('counts failures that became known while a check waits', async () => {
    for (const address of ['first', 'a', 'b', 'b']) void add(address);
    failures.set('b', 1);
    await endAll();
    expect(begun).to.deep.equal(['first', 'a', 'b', 'b']);
  });

  it('refuses a fifth of one address, and the last in the order when more than 1000 wait', async () => {
    void add('running');
    const [oldest, failed] = [add('oldest'), add('failed')];
    failures.set('failed', 1);
    const four = [1, 2, 3, 4].map(() => add('many'));
    expect(await add('many')).to.be.instanceOf(CheckRefused);
    for (let i = 0; i < 994; i++) void add(`address ${i}`);
    void add('one more');
    expect(await failed).to.be.instanceOf(CheckRefused);
    void add('another');
    expect(await oldest).to.be.instanceOf(CheckRefused);
    await endAll();
    expect(await Promise.all(four)).to.deep.equal([undefined, undefined, undefined, undefined]);
    expect(begun).to.have.length(1001);
    expect(begun.slice(0, 4)).to.deep.equal(['running', 'another', 'one more', 'address 993']);
  });

  it('forgets a check whose client has left, and runs others after one has failed', async () => {
    const left = new AbortController();
    void add('first');
    const waiting = add('left', left.signal);
    left.abort('gone');
    expect(await waiting).to.equal('gone');
    expect(await add('left', left.signal)).to.equal('gone');
    await endAll();
    expect(begun).to.deep.equal(['first']);
    const check = () => Promise.reject(new Error('the store is away'));
    const failing = queue.run({ address: 'a', failures: () => 0, since: 0 }, check, new AbortController().signal);
    expect(await failing.catch(String)).to.equal('Error: the store is away');
    void add('next');
    expect(begun).to.deep.equal(['first', 'next']);
  });
});
