import { expect } from 'chai';
import { hashPassword, isPassword, newPassword } from './password.js';
import { Queue, QueueFull } from './queue.js';

describe('a password', () => {
  it('is stored as a hash with its own salt, and recognised', async () => {
    const [one, two] = [await hashPassword('correct horse battery'), await hashPassword('correct horse battery')];
    expect(one).to.match(/^scrypt\$32768\$8\$3\$[\w-]{22}\$[\w-]{43}$/);
    expect(two).not.to.equal(one);
    expect(await isPassword('correct horse battery', one)).to.equal(true);
    expect(await isPassword('correct horse batterY', one)).to.equal(false);
  });

  it('is the same in every Unicode composition of its letters', async () => {
    expect(await isPassword('zoe\u0308 zoe\u0308 zoe\u0308', await hashPassword('zoë zoë zoë'))).to.equal(true);
  });

  it('is wrong if nobody has that name, or the hash is invalid', async () => {
    expect(await isPassword('', null)).to.equal(false);
    expect(await isPassword('x', 'scrypt$1$1')).to.equal(false);
  });

  it('that is generated has no letters that look alike', () => {
    expect(newPassword()).to.match(/^[a-hjkmnp-z2-9]{5}(-[a-hjkmnp-z2-9]{5}){3}$/);
    expect(newPassword()).not.to.equal(newPassword());
  });
});

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
});
