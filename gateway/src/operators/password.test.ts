import { expect } from 'chai';
import { hashPassword, isPassword, newPassword } from './password.js';

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
