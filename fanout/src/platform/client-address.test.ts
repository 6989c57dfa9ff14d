import type { IncomingMessage } from 'node:http';
import { expect } from 'chai';
import { clientAddress } from './client-address.js';

/** The client's address of a request of this peer. */
function addressOf(remoteAddress: string, forwarded?: string): string {
  const headers = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded };
  return clientAddress({ socket: { remoteAddress } as IncomingMessage['socket'], headers });
}

describe('the address of a client', () => {
  for (const [forwarded, address] of [
    ['198.51.100.1, 203.0.113.9', '203.0.113.9'],
    ['203.0.113.9:51234', '203.0.113.9'],
    ['[2001:db8::7]:51234', '2001:db8::7'],
    ['[2001:db8::7]', '2001:db8::7'],
    ['2001:db8::7', '2001:db8::7'],
    ['::ffff:203.0.113.9', '203.0.113.9'],
  ] as const)
    it(`is the last one that a near proxy reports: ${forwarded}`, () => {
      expect(addressOf('10.0.0.2', forwarded)).to.equal(address);
      expect(addressOf('::ffff:10.0.0.2', forwarded)).to.equal(address);
    });

  for (const forwarded of [undefined, '', 'unknown', '203.0.113.9:', '203.0.113.9:99:1', '[203.0.113.9', '1.2.3.4, '])
    it(`is that of the socket if the proxy reports ${forwarded ?? 'nothing'}`, () => {
      expect(addressOf('10.0.0.2', forwarded)).to.equal('10.0.0.2');
    });

  it('is that of the socket if the peer is no near proxy', () => {
    expect(addressOf('198.51.100.1', '203.0.113.9')).to.equal('198.51.100.1');
  });
});
