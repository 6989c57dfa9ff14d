import { expect } from 'chai';
import { sampleAt } from './sample.js';

describe('sampleAt', () => {
  const bytes = new Uint8Array(12);
  const view = new DataView(bytes.buffer);

  it('reads the samples of each encoding, at any offset', () => {
    for (const at of [0, 1, 6]) {
      for (const value of [0, 1, 255, 256, 32_767, -1, -256, -32_768]) {
        view.setInt16(at, value, true);
        expect(sampleAt(bytes, 1, at)).to.equal(value);
      }
      for (const value of [0, 65_536, 8_388_607, -1, -65_537, -8_388_608]) {
        view.setUint16(at, value & 0xffff, true);
        view.setInt8(at + 2, value >> 16);
        expect(sampleAt(bytes, 2, at)).to.equal(value);
      }
      for (const value of [0, 65_537, 2_147_483_647, -1, -2_147_483_648]) {
        view.setInt32(at, value, true);
        expect(sampleAt(bytes, 3, at)).to.equal(value);
      }
      for (const value of [0, 0.5, -1e30]) {
        view.setFloat32(at, value, true);
        expect(sampleAt(bytes, 4, at)).to.equal(Math.fround(value));
      }
    }
  });

  it('reads a missing value as NaN', () => {
    view.setFloat32(0, Number.NaN, true);
    expect(sampleAt(bytes, 4, 0)).to.be.NaN;
  });
});
