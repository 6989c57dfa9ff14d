import { expect } from 'chai';
import { Queue, QueueFull } from './queue.js';

/** Tasks that run until they are ended. */
class Tasks {
  readonly begun: string[] = [];
  readonly #ends = new Map<string, () => void>();

  readonly run = (name: string) => () => {
    this.begun.push(name);
    return new Promise<string>((resolve) => this.#ends.set(name, () => resolve(name)));
  };

  async end(name: string): Promise<void> {
    this.#ends.get(name)?.();
    await new Promise(setImmediate);
  }
}

describe('a queue', () => {
  let tasks: Tasks;
  beforeEach(() => {
    tasks = new Tasks();
  });

  it('runs a limited number of tasks at once, the others in turn, and refuses more', async () => {
    const queue = new Queue({ atOnce: 2, waiting: 1 });
    const [first, second, third] = ['1', '2', '3'].map((n) => queue.run('a', tasks.run(n)));
    expect(await queue.run('a', tasks.run('4')).catch((error: unknown) => error)).to.be.instanceOf(QueueFull);
    expect(tasks.begun).to.deep.equal(['1', '2']);
    for (const n of ['1', '2', '3']) await tasks.end(n);
    expect(await Promise.all([first, second, third])).to.deep.equal(['1', '2', '3']);
    expect(tasks.begun).to.deep.equal(['1', '2', '3']);
  });

  it('runs as many tasks at once again after it was idle', async () => {
    const queue = new Queue({ atOnce: 2, waiting: 0 });
    for (let round = 0; round < 2; round++)
      expect(await Promise.all([1, 2].map((n) => queue.run('a', async () => n)))).to.deep.equal([1, 2]);
  });

  it('lets the owners take turns, however many tasks one of them has', async () => {
    const queue = new Queue({ atOnce: 1 });
    for (const n of ['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1']) void queue.run(n.slice(0, 1), tasks.run(n));
    for (let i = 0; i < 7; i++) await tasks.end(tasks.begun.at(-1) ?? '');
    expect(tasks.begun).to.deep.equal(['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4']);
  });

  it('limits the tasks of each owner, and keeps no other owner waiting for them', async () => {
    const queue = new Queue({ each: () => 2 });
    for (const n of ['a1', 'a2', 'a3', 'b1']) void queue.run(n.slice(0, 1), tasks.run(n));
    expect(tasks.begun).to.deep.equal(['a1', 'a2', 'b1']);
    await tasks.end('b1');
    expect(tasks.begun).to.have.length(3);
    await tasks.end('a2');
    expect(tasks.begun.at(-1)).to.equal('a3');
  });

  it('continues after a task has failed', async () => {
    const queue = new Queue({ atOnce: 1 });
    const failed = queue.run('a', () => Promise.reject(new Error('cut off'))).catch(String);
    const next = queue.run('a', async () => 'next');
    expect([await failed, await next]).to.deep.equal(['Error: cut off', 'next']);
  });

  it('never runs a task that is aborted while it waits', async () => {
    const queue = new Queue({ atOnce: 1, waiting: 1 });
    const left = new AbortController();
    void queue.run('a', tasks.run('1'));
    const second = queue.run('a', tasks.run('2'), left.signal).catch(String);
    left.abort('gone');
    expect(await second).to.equal('gone');
    expect(await queue.run('a', tasks.run('3'), left.signal).catch(String)).to.equal('gone');
    void queue.run('a', tasks.run('4'));
    await tasks.end('1');
    expect(tasks.begun).to.deep.equal(['1', '4']);
  });
});
