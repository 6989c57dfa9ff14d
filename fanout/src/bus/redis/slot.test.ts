import { expect } from 'chai';
import { slotOf } from './slot.js';

describe('slot of a key', () => {
  it('is the CRC-16 of the Redis Cluster specification: 0x31C3 for "123456789"', () => {
    expect(slotOf('123456789')).to.equal(0x31c3);
  });

  it('hashes the first tag in braces, as in the examples of the specification', () => {
    expect(slotOf('{user1000}.following')).to.equal(slotOf('{user1000}.followers'));
    expect(slotOf('foo{{bar}}zap')).to.equal(slotOf('{bar'));
    expect(slotOf('foo{bar}{zap}')).to.equal(slotOf('bar'));
  });

  it('hashes the whole key if the tag is empty or not closed', () => {
    expect(slotOf('foo{}{bar}')).to.not.equal(slotOf('bar'));
    expect(slotOf('{abc')).to.not.equal(slotOf('abc'));
  });
});
