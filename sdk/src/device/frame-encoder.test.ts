import { expect } from 'chai';
import fc from 'fast-check';
import { encodeFrame } from './frame-encoder.js';

/** Reads a binary frame from the protocol's table, byte by byte, sharing nothing with the encoder. */
function decode(bytes: Uint8Array) {
  const buffer = Buffer.from(bytes);
  const width = [0, 2, 3, 4, 4][buffer.readUInt8(2)] ?? 0;
  const samples: number[] = [];
  for (let at = 16; at < buffer.length; at += width)
    samples.push(buffer.readUInt8(2) === 4 ? buffer.readFloatLE(at) : buffer.readIntLE(at, width));
  return {
    version: buffer.readUInt8(0),
    channel: buffer.readUInt8(1),
    encoding: buffer.readUInt8(2),
    reserved: buffer.readUInt8(3),
    seq: buffer.readUInt32LE(4),
    ts: buffer.readDoubleLE(8),
    samples,
  };
}

const encoded = (...samples: number[]) =>
  decode(encodeFrame({ channel: 0, seq: 0, ts: 0, samples: Float64Array.from(samples) }));

describe('frame encoder', () => {
  it('writes the header of the protocol, little endian', () => {
    const bytes = encodeFrame({ channel: 3, seq: 0x01020304, ts: 1763600000000.5, samples: Float64Array.of(-2) });
    expect([...bytes.subarray(0, 8)]).to.deep.equal([1, 3, 1, 0, 4, 3, 2, 1]);
    expect(decode(bytes)).to.deep.equal({
      version: 1,
      channel: 3,
      encoding: 1,
      reserved: 0,
      seq: 0x01020304,
      ts: 1763600000000.5,
      samples: [-2],
    });
  });

  it('uses the narrowest integers that hold every value', () => {
    expect(encoded(-32768, 32767)).to.include({ encoding: 1 });
    expect(encoded(-32769)).to.include({ encoding: 2 });
    expect(encoded(32768)).to.include({ encoding: 2 });
    expect(encoded(-(2 ** 23), 2 ** 23 - 1)).to.include({ encoding: 2 });
    expect(encoded(2 ** 23)).to.include({ encoding: 3 });
    expect(encoded(-(2 ** 31), 2 ** 31 - 1)).to.include({ encoding: 3 });
    expect(encoded(2 ** 31)).to.include({ encoding: 4 });
  });

  it('carries whole numbers of 32 bits exactly', () => {
    fc.assert(
      fc.property(fc.array(fc.integer(), { minLength: 1 }), (values) => {
        expect(encoded(...values).samples).to.deep.equal(values);
      }),
    );
  });

  it('carries fractions and missing values as float32', () => {
    fc.assert(
      fc.property(
        fc.array(fc.float({ noDefaultInfinity: true, min: -(2 ** 24), max: 2 ** 24 }), { minLength: 1 }),
        (values) => {
          expect(encoded(0.5, ...values).samples).to.deep.equal([0.5, ...values]);
        },
      ),
    );
  });

  it('rounds fractions beyond the exact range of float32 to whole numbers, because that loses less', () => {
    const value = 2 ** 30 + 7.25;
    expect(encoded(value)).to.deep.include({ encoding: 3, samples: [2 ** 30 + 7] });
    expect(Math.abs(Math.fround(value) - value)).to.be.greaterThan(0.25);
    expect(encoded(value, Number.NaN)).to.include({ encoding: 4 });
  });

  it('writes NaN as the stamp of a device without a clock', () => {
    expect(decode(encodeFrame({ channel: 0, seq: 0, ts: Number.NaN, samples: Float64Array.of(1) })).ts).to.be.NaN;
  });

  it('refuses values that the protocol cannot carry, and names them', () => {
    const frame = { channel: 0, seq: 0, ts: 0, samples: Float64Array.of(1) };
    expect(() => encodeFrame({ ...frame, samples: Float64Array.of(Infinity) })).to.throw(RangeError, 'it is Infinity');
    expect(() => encodeFrame({ ...frame, samples: Float64Array.of(1e39) })).to.throw(RangeError, 'float32');
    expect(() => encodeFrame({ ...frame, seq: 2 ** 32 })).to.throw(RangeError, 'seq');
    expect(() => encodeFrame({ ...frame, seq: -1 })).to.throw(RangeError, 'seq');
    expect(() => encodeFrame({ ...frame, ts: Infinity })).to.throw(RangeError, 'ts');
  });
});
