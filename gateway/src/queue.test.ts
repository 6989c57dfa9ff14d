import { expect } from 'chai';
import { Queue, QueueFull } from './queue.js';

describe('a queue', () => {
  it('runs a limited number of tasks at once, the others in turn, and refuses more', async () => {
    const queue = new Queue(2, 1);
    const ends: (() => void)[] = [];
    const begun: number[] = [];
    const task = (n: number) =>
      queue.run(() => {
        begun.push(n);
        return new Promise<number>((resolve) => ends.push(() => resolve(n)));
      });
    const [first, second, third] = [task(1), task(2), task(3)];
    expect(await task(4).catch((error: unknown) => error)).to.be.instanceOf(QueueFull);
    expect(begun).to.deep.equal([1, 2]);
    ends[0]?.();
    expect(await first).to.equal(1);
    ends[1]?.();
    expect(await second).to.equal(2);
    expect(begun).to.deep.equal([1, 2, 3]);
    ends[2]?.();
    expect(await third).to.equal(3);
  });

  it('runs as many tasks at once again after it was idle', async () => {
    const queue = new Queue(2, 0);
    for (let round = 0; round < 2; round++)
      expect(await Promise.all([1, 2].map((n) => queue.run(async () => n)))).to.deep.equal([1, 2]);
  });
});
