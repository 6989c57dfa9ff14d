import { ManualClock } from '@device-insights/fanout/platform/manual-clock.fixture';
import { expect } from 'chai';
import { Attempts, networkOf } from './attempts.js';

describe('attempts to sign in', () => {
  let clock: ManualClock;
  let attempts: Attempts;

  beforeEach(() => {
    clock = new ManualClock(1_763_600_000_000);
    attempts = new Attempts(clock);
  });

  const tries = (count: number, address: string, name: string) =>
    Array.from({ length: count }, () => attempts.begin(address, name));

  it('are free twenty times for each address, whatever the names; then the delay doubles with each failure, up to 60 s', () => {
    for (let i = 0; i < 20; i++) expect(attempts.begin('a', `name ${i}`)).to.equal(0);
    for (const wait of [1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000]) {
      expect(attempts.begin('a', 'ann')).to.equal(wait);
      clock.advance(wait - 1);
      expect(attempts.begin('a', 'bob')).to.equal(1);
      clock.advance(1);
      expect(attempts.begin('a', 'ann')).to.equal(0);
    }
    expect(attempts.begin('b', 'ann'), 'failures elsewhere delay nobody').to.equal(0);
  });

  it('count the addresses of an IPv6 network of 64 bits as one, however they are written', () => {
    const written = ['2001:db8::1', '2001:db8::aaaa:bbbb:cccc:dddd', '2001:0DB8:0:0:1:2:3:4', '2001:db8:0:0:f::'];
    for (let i = 0; i < 20; i++) expect(attempts.begin(written[i % 4] ?? '', `name ${i}`)).to.equal(0);
    for (const address of written) expect(attempts.begin(address, 'another')).to.equal(1000);
    for (const address of ['2001:db8:0:1::1', '2001:db8:1::', '::1', '::', 'fe80::1%eth0', '32.1.13.184', ''])
      expect(attempts.begin(address, `name ${address}`), address).to.equal(0);
  });

  it('that fail count for an IPv6 network of 48 bits, of which one client may have all addresses, after two', () => {
    const failed = [
      '2001:db8:1:1::',
      '2001:db8:1:2::',
      '2001:db8:1:3::',
      '2001:db8:1:4::',
      '2001:db8:2::',
      '192.0.2.1',
    ];
    for (const address of failed) attempts.begin(address, 'ann');
    const failures = (address: string) => attempts.failuresOf(networkOf(address));
    expect(['2001:db8:1:9::', '2001:db8:2:9::', '192.0.2.1', '192.0.2.2'].map(failures)).to.deep.equal([2, 0, 0, 0]);
    attempts.succeeded('2001:db8:1:1::', 'ann');
    expect(failures('2001:db8:1:9::')).to.equal(1);
  });

  it('that fail are known since the first one, until they are forgotten', () => {
    const start = clock.monotonic();
    attempts.begin('a', 'ann');
    clock.advance(800_000);
    attempts.begin('a', 'ann');
    clock.advance(800_000);
    expect([attempts.sinceOf('a'), attempts.sinceOf('b')]).to.deep.equal([start, start + 1_600_000]);
    clock.advance(100_000);
    expect(attempts.sinceOf('a')).to.equal(start + 1_700_000);
  });

  it('know an operator by the network from which it signed in', () => {
    attempts.succeeded('2001:db8::1', 'ann');
    const known = ['2001:db8::2', '2001:db8:0:1::', '192.0.2.1'].map((address) => attempts.isKnown(address, 'ann'));
    expect(known).to.deep.equal([true, false, false]);
    expect(attempts.isKnown('2001:db8::1', 'bob')).to.equal(false);
  });

  it('are free again after a successful one, and a quarter of an hour after the last failure', () => {
    tries(20, 'a', 'ann');
    expect(attempts.begin('a', 'ann')).to.equal(1000);
    attempts.succeeded('a', 'ann');
    expect(attempts.failuresOf('a')).to.equal(0);
    expect(tries(20, 'a', 'ann')).not.to.include(1000);
    tries(20, 'b', 'bob');
    clock.advance(900_000);
    expect([attempts.failuresOf('b'), attempts.begin('b', 'bob')]).to.deep.equal([0, 0]);
  });

  it('that fail with one name are not forgotten when another name signs in at the same address', () => {
    attempts.succeeded('home', 'ann');
    for (let i = 0; i < 20; i++) {
      expect(attempts.begin('home', 'ann')).to.equal(0);
      attempts.begin('home', 'vera');
      attempts.succeeded('home', 'vera');
    }
    expect(attempts.begin('home', 'ann'), 'also of a known name, after 20').to.equal(1000);
    expect(attempts.begin('home', 'vera')).to.equal(1000);
  });

  it('that are refused, so that no password is checked, push out nothing that is remembered', () => {
    tries(20, 'a', 'ann');
    tries(20, 'stranger', 'ann');
    for (let i = 0; i < 100_000; i++) attempts.begin('stranger', `name ${i}`);
    expect(attempts.begin('a', 'ann')).to.equal(1000);
  });

  it('are remembered only for a limited number of addresses', () => {
    tries(20, 'first', 'first');
    for (let i = 0; i < 20_000; i++) attempts.begin(`address ${i}`, `name ${i}`);
    expect(attempts.begin('first', 'first')).to.equal(0);
    tries(20, 'last', 'last');
    expect(attempts.begin('last', 'last')).to.equal(1000);
  });
});
