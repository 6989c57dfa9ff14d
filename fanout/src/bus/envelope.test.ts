import { expect } from 'chai';
import fc from 'fast-check';
import { decodeEnvelope, encodeEnvelope } from './envelope.js';

describe('envelope', () => {
  it('comes back as it went in, whatever texts and users it carries', () => {
    const message = fc.record({
      text: fc.string({ unit: 'grapheme' }),
      user: fc.option(fc.string({ unit: 'grapheme' }), { nil: null }),
    });
    const envelope = fc.record({
      publisher: fc.constantFrom('p-1', 'a'),
      number: fc.integer({ min: 1 }),
      lossAgeMs: fc.option(fc.nat(), { nil: null }),
      messages: fc.array(message),
    });
    fc.assert(
      fc.property(envelope, (sent) => {
        expect(decodeEnvelope(encodeEnvelope(sent))).to.deep.equal(sent);
      }),
    );
  });

  it('has a head of one line that can be written without a JSON library', () => {
    const text = encodeEnvelope({
      publisher: 'p',
      number: 7,
      lossAgeMs: null,
      messages: [{ text: '{"a":1}', user: null }],
    });
    expect(text).to.equal('1 p 7 - [7]\n{"a":1}');
  });

  it('refuses what is no envelope', () => {
    for (const text of ['', 'hello', '2 p 1 - []\n', '1 p\n', '1 p 1 - nonsense\n', '{"type":"hr"}']) {
      expect(() => decodeEnvelope(text), text).to.throw();
    }
  });
});
