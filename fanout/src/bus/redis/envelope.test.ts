import { expect } from 'chai';
import fc from 'fast-check';
import { decodeEnvelope, encodeEnvelope, MAX_MESSAGES } from './envelope.js';

describe('envelope', () => {
  it('is decoded as it was encoded, for any texts and users', () => {
    const message = fc.record({
      text: fc.string({ unit: 'grapheme', minLength: 1 }),
      user: fc.option(fc.string({ unit: 'grapheme' }), { nil: null }),
    });
    const envelope = fc.record({
      publisher: fc.constantFrom('p-1', 'a'),
      number: fc.maxSafeNat(),
      lossAgeMs: fc.option(fc.oneof(fc.nat(), fc.double({ min: 0, max: 1e12, noNaN: true })), { nil: null }),
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

  it('is rejected if any part differs from the format of a publisher', () => {
    const good = '1 p 1 - [2,[1,"anna"]]\nabc';
    expect(decodeEnvelope(good)?.messages).to.deep.equal([
      { text: 'ab', user: null },
      { text: 'c', user: 'anna' },
    ]);
    const heads = ['', 'hello', '2 p 1 - []', '1 p', '1 p 1 - nonsense', '{"type":"hr"}', '1 p 1 - [] ', '1  1 - []'];
    const publishers = [`1 ${'p'.repeat(65)} 1 - []`, '1 p{} 1 - []', '1 ä 1 - []'];
    const numbers = ['-1', '1.5', '1e3', 'x', '9007199254740992', '99999999999999999'].map((n) => `1 p ${n} - []`);
    const ages = ['-1', 'x', '1e999', 'NaN', 'Infinity', '1-1', ''].map((age) => `1 p 1 ${age} []`);
    for (const head of [...heads, ...publishers, ...numbers, ...ages])
      for (const text of [head, `${head}\n`]) expect(decodeEnvelope(text), text).to.equal(undefined);
    const entries = [
      '{}',
      '3',
      '[null]',
      '["3"]',
      '[{"length":3}]',
      '[[3]]',
      '[[3,4]]',
      '[[3,"a","b"],0]',
      '[1.5,1.5]',
    ];
    const sums = [
      '[]',
      '[2]',
      '[4]',
      '[3,0]',
      '[0,3]',
      '[4,-1]',
      '[1e9]',
      '[9007199254740993]',
      `[[3,"${'u'.repeat(401)}"]]`,
    ];
    for (const list of [...entries, ...sums]) expect(decodeEnvelope(`1 p 1 - ${list}\nabc`), list).to.equal(undefined);
    expect(decodeEnvelope('1 p 1 - []')).to.equal(undefined);
  });

  it('is rejected if it would be larger than those of a publisher, even if its encoding is short', () => {
    const empty = `1 p 1 - [${new Array(20_000).fill(0).join()}]\n`;
    const many = `1 p 1 - [${new Array(MAX_MESSAGES + 1).fill(1).join()}]\n${'x'.repeat(MAX_MESSAGES + 1)}`;
    const long = `1 p 1 - [${2 ** 24}]\n${'x'.repeat(2 ** 24)}`;
    const deep = `1 p 1 - ${'['.repeat(1_000_000)}${']'.repeat(1_000_000)}\n`;
    for (const text of [empty, many, long, deep]) expect(decodeEnvelope(text)).to.equal(undefined);
  });
});
