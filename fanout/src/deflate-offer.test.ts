import { expect } from 'chai';
import { sharedDeflateOffer } from './deflate-offer.js';

describe('offer of shared compression', () => {
  it('is the first one without context takeover and without a window limit', () => {
    const offer = 'permessage-deflate; server_no_context_takeover; client_max_window_bits';
    expect(sharedDeflateOffer(offer)).to.equal(offer);
    expect(sharedDeflateOffer(`permessage-deflate, x-other; a=1, ${offer}`)).to.equal(offer);
  });

  it('is none if frames could not be shared, or the header is invalid', () => {
    const limited = 'permessage-deflate; server_no_context_takeover; server_max_window_bits=10';
    const unknown = 'permessage-deflate; server_no_context_takeover; mu=1';
    const bad = 'permessage-deflate; server_no_context_takeover; client_max_window_bits=99';
    const repeated =
      'permessage-deflate; server_no_context_takeover; client_max_window_bits; client_max_window_bits=10';
    for (const header of [repeated, undefined, '', 'permessage-deflate', limited, unknown, bad, ';;=,,"']) {
      expect(sharedDeflateOffer(header), header).to.equal(undefined);
    }
  });
});
