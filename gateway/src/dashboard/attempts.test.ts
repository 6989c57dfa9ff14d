import { ManualClock } from '@device-insights/fanout/platform/manual-clock';
import { expect } from 'chai';
import { Attempts } from './attempts.js';

describe('attempts to sign in', () => {
  let clock: ManualClock;
  let attempts: Attempts;

  beforeEach(() => {
    clock = new ManualClock(1_763_600_000_000);
    attempts = new Attempts(clock);
  });

  const tries = (count: number, address: string, name: string) =>
    Array.from({ length: count }, () => attempts.begin(address, name));

  it('are free five times for each name; then the delay doubles with each failure, up to 30 s', () => {
    expect(tries(5, 'a', 'ann')).to.deep.equal([0, 0, 0, 0, 0]);
    for (const wait of [1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]) {
      expect(attempts.begin('b', 'ann')).to.equal(wait);
      clock.advance(wait - 1);
      expect(attempts.begin('c', 'ann')).to.equal(1);
      clock.advance(1);
      expect(attempts.begin('d', 'ann')).to.equal(0);
    }
  });

  it('are free twenty times for each address, whatever the names', () => {
    for (let i = 0; i < 20; i++) expect(attempts.begin('a', `name ${i}`)).to.equal(0);
    expect(attempts.begin('a', 'another')).to.equal(1000);
    expect(attempts.begin('b', 'another')).to.equal(0);
  });

  it('count the addresses of an IPv6 network of 64 bits as one, however they are written', () => {
    const written = ['2001:db8::1', '2001:db8::aaaa:bbbb:cccc:dddd', '2001:0DB8:0:0:1:2:3:4', '2001:db8:0:0:f::'];
    for (let i = 0; i < 20; i++) expect(attempts.begin(written[i % 4] ?? '', `name ${i}`)).to.equal(0);
    for (const address of written) expect(attempts.begin(address, 'another')).to.equal(1000);
    for (const address of ['2001:db8:0:1::1', '2001:db8:1::', '::1', '::', 'fe80::1%eth0', '32.1.13.184', ''])
      expect(attempts.begin(address, `name ${address}`), address).to.equal(0);
  });

  it('know an operator by the network from which it signed in', () => {
    attempts.succeeded('2001:db8::1', 'ann');
    tries(9, 'elsewhere', 'ann');
    expect(attempts.begin('2001:db8::2', 'ann')).to.equal(0);
  });

  it('are free again after a successful one, and a quarter of an hour after the last failure', () => {
    tries(5, 'a', 'ann');
    expect(attempts.begin('a', 'ann')).to.equal(1000);
    attempts.succeeded('a', 'ann');
    expect(tries(5, 'a', 'ann')).to.deep.equal([0, 0, 0, 0, 0]);
    tries(5, 'b', 'bob');
    clock.advance(900_000);
    expect(tries(5, 'b', 'bob')).to.deep.equal([0, 0, 0, 0, 0]);
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

  it('come from a new, a failed or a known client', () => {
    expect(attempts.standingOf('2001:db8::1', 'ann')).to.equal('new');
    attempts.begin('2001:db8::1', 'ann');
    expect(attempts.standingOf('2001:db8::2', 'bob')).to.equal('failed');
    attempts.succeeded('2001:db8::1', 'ann');
    expect(attempts.standingOf('2001:db8::2', 'ann')).to.equal('known');
    expect(attempts.standingOf('2001:db8::2', 'bob')).to.equal('new');
    attempts.begin('a', 'ann');
    clock.advance(900_000);
    expect(attempts.standingOf('a', 'ann')).to.equal('new');
  });

  it('of others do not delay an operator at an address where it has signed in before', () => {
    attempts.begin('home', 'ann');
    attempts.succeeded('home', 'ann');
    tries(6, 'stranger', 'ann');
    expect(attempts.begin('elsewhere', 'ann')).to.equal(1000);
    expect(attempts.begin('home', 'ann')).to.equal(0);
  });

  it('that are refused, so that no password is checked, push out no remembered name', () => {
    tries(5, 'a', 'ann');
    for (let i = 0; i < 100_000; i++) attempts.begin('stranger', `name ${i}`);
    expect(attempts.begin('b', 'ann')).to.equal(1000);
  });

  it('are remembered only for a limited number of names and addresses', () => {
    tries(5, 'first', 'first');
    for (let i = 0; i < 100_000; i++) attempts.begin(`address ${i}`, `name ${i}`);
    expect(attempts.begin('first', 'first')).to.equal(0);
    tries(5, 'last', 'last');
    expect(attempts.begin('last', 'last')).to.equal(1000);
  });
});
