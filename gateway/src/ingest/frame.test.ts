import { FRAME_ERRORS } from '@device-insights/contract/ingest';
import { expect } from 'chai';
import fc from 'fast-check';
import { decodeBinary, type Frame, sampleAt } from './frame.js';
import { binary, channel, float32, type Header, int16 } from './frames.fixture.js';

const CHANNELS = [channel(), channel({ modality: 'accel', num_channels: 3 })];

function frame(header: Header, payload: Uint8Array): Frame {
  const decoded = decodeBinary(binary(header, payload), CHANNELS);
  if ('fault' in decoded) throw new Error(decoded.detail);
  return decoded;
}

function code(bytes: Uint8Array): string | null {
  const decoded = decodeBinary(bytes, CHANNELS);
  return 'fault' in decoded ? decoded.fault : null;
}

describe('decodeBinary', () => {
  it('reads every field of the header and counts instants of one sample', () => {
    const { payload, ...fields } = frame({ seq: 4_000_000_000, ts: 1763600000000.5 }, int16(512, -513));
    expect(fields).to.deep.equal({ channel: 0, seq: 4_000_000_000, ts: 1763600000000.5, encoding: 1, instants: 2 });
    expect([...payload]).to.deep.equal([0, 2, 255, 253]);
  });

  it('counts an instant of three sub-channels once, in every encoding', () => {
    for (const [encoding, bytes] of [
      [1, 6],
      [2, 9],
      [3, 12],
      [4, 12],
    ] as const) {
      expect(frame({ channel: 1, encoding }, new Uint8Array(2 * bytes)).instants).to.equal(2);
    }
  });

  it('treats a NaN time as a device without a clock', () => {
    expect(frame({ ts: Number.NaN }, int16(1)).ts).to.equal(null);
  });

  it('keeps NaN samples, which are missing values', () => {
    expect(frame({ encoding: 4 }, float32(1, Number.NaN)).instants).to.equal(2);
  });

  it('does not copy the payload', () => {
    const bytes = binary({}, int16(1, 2));
    const decoded = decodeBinary(bytes, CHANNELS);
    expect('payload' in decoded && decoded.payload.buffer).to.equal(bytes.buffer);
  });

  it('refuses another version, an unknown encoding and a reserved byte in use', () => {
    expect(code(binary({ version: 2 }, int16(1)))).to.equal('bad_version');
    expect(code(binary({ encoding: 0 }, int16(1)))).to.equal('bad_encoding');
    expect(code(binary({ encoding: 5 }, int16(1)))).to.equal('bad_encoding');
    expect(code(binary({ reserved: 1 }, int16(1)))).to.equal('bad_frame');
  });

  it('refuses frames shorter than the header and one instant, and frames with a part of an instant', () => {
    expect(code(new Uint8Array(0))).to.equal('bad_length');
    expect(code(Uint8Array.of(1))).to.equal('bad_length');
    expect(code(binary({}, int16()))).to.equal('bad_length');
    expect(code(binary({}, Uint8Array.of(1, 2, 3)))).to.equal('bad_length');
    expect(code(binary({ channel: 1 }, int16(1, 2, 3, 4)))).to.equal('bad_length');
  });

  it('refuses numbers beyond 2^32 and accepts the last one below', () => {
    expect(frame({ seq: 2 ** 32 - 2 }, int16(1, 2)).instants).to.equal(2);
    expect(code(binary({ seq: 2 ** 32 - 2 }, int16(1, 2, 3)))).to.equal('bad_value');
  });

  it('refuses a time that is infinite', () => {
    for (const ts of [Infinity, -Infinity, -1e308]) expect(code(binary({ ts }, int16(1)))).to.equal('bad_value');
  });

  it('refuses a time before 2000, and says what to do', () => {
    const [first, seconds, sincePowerOn] = [946_684_800_000, 1_763_600_000, 3500];
    expect(frame({ ts: first }, int16(1)).ts).to.equal(first);
    for (const ts of [first - 1, seconds, sincePowerOn, -1]) {
      const refused = decodeBinary(binary({ ts }, int16(1)), CHANNELS);
      expect(refused).to.include({ fault: 'bad_value' });
      expect(refused).to.have.property('detail').that.contains('not seconds').and.contains('clock parameter');
    }
  });

  it('accepts a time that is after 2000 by the clock that the device connected with', () => {
    expect(decodeBinary(binary({ ts: 3500 }, int16(1)), CHANNELS, 3500)).to.include({ ts: 3500 });
    expect(decodeBinary(binary({ ts: 3499 }, int16(1)), CHANNELS, 3500)).to.include({ fault: 'bad_value' });
  });

  it('refuses infinite samples wherever the payload lies in memory', () => {
    for (const shift of [0, 1, 2, 3]) {
      for (const value of [Infinity, -Infinity]) {
        const bytes = Buffer.alloc(64);
        const whole = binary({ encoding: 4 }, float32(1, 3.4e38, value));
        bytes.set(whole, shift);
        expect(code(bytes.subarray(shift, shift + whole.length))).to.equal('bad_value');
      }
    }
  });

  it('refuses a channel that the session does not have', () => {
    expect(code(binary({ channel: 2 }, int16(1)))).to.equal('unknown_channel');
  });

  it('names the first of several faults in the order of the protocol', () => {
    const faults: [string, Header, Uint8Array][] = [
      ['bad_version', { version: 9, encoding: 9, reserved: 9, ts: Infinity, channel: 9 }, new Uint8Array(1)],
      ['bad_encoding', { encoding: 9, reserved: 9, ts: Infinity, channel: 9 }, new Uint8Array(1)],
      ['bad_frame', { reserved: 9, ts: Infinity, channel: 9 }, new Uint8Array(1)],
      ['bad_length', { ts: Infinity, channel: 9 }, new Uint8Array(1)],
      ['bad_value', { ts: Infinity, channel: 9 }, int16(1)],
    ];
    for (const [first, header, payload] of faults) expect(code(binary(header, payload))).to.equal(first);
  });

  it('gives the channel and number of a refused frame', () => {
    expect(decodeBinary(binary({ channel: 7, seq: 42 }, int16(1)), CHANNELS)).to.include({ channel: 7, seq: 42 });
  });

  it('gives a valid frame or a documented code for any bytes', () => {
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 64 }),
      fc.tuple(fc.uint8Array({ maxLength: 48 })).map(([tail]) => Uint8Array.of(1, 0, 4, 0, ...tail)),
    );
    fc.assert(
      fc.property(bytes, (input) => {
        const decoded = decodeBinary(input, CHANNELS);
        if ('fault' in decoded) expect(FRAME_ERRORS).to.include(decoded.fault);
        else expect(Number.isInteger(decoded.instants) && decoded.instants > 0).to.equal(true);
      }),
      { numRuns: 2000 },
    );
  });
});

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
