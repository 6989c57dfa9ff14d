import { FRAME_ERRORS } from '@device-insights/contract/ingest';
import { expect } from 'chai';
import fc from 'fast-check';
import type { Frame } from './frame.js';
import { channel } from './frames.fixture.js';
import { decodeText } from './message.js';

const CHANNELS = [channel(), channel({ modality: 'accel', num_channels: 3 })];

function decode(fields: object) {
  return decodeText(JSON.stringify({ type: 'samples', channel: 0, seq: 0, samples: [1], ...fields }), CHANNELS);
}

function frame(fields: object): Frame {
  const decoded = decode(fields);
  if (!('type' in decoded) || decoded.type !== 'samples') throw new Error(JSON.stringify(decoded));
  return decoded.frame;
}

function code(text: string): string | null {
  const decoded = decodeText(text, CHANNELS);
  return 'fault' in decoded ? decoded.fault : null;
}

function values({ encoding, payload }: Frame): number[] {
  const view = new DataView(payload.buffer, payload.byteOffset, payload.byteLength);
  return Array.from({ length: payload.length / 4 }, (_, i) =>
    encoding === 3 ? view.getInt32(i * 4, true) : view.getFloat32(i * 4, true),
  );
}

describe('decodeText', () => {
  it('reads samples with their channel, number and time', () => {
    const { payload, ...fields } = frame({ seq: 7, ts: 1763600000000.25, samples: [512, 513] });
    expect(fields).to.deep.equal({ channel: 0, seq: 7, ts: 1763600000000.25, encoding: 3, instants: 2 });
    expect(payload.length).to.equal(8);
  });

  it('keeps raw counts beyond 2^24 exact', () => {
    expect(values(frame({ samples: [16_777_217, -2_147_483_648] }))).to.deep.equal([16_777_217, -2_147_483_648]);
  });

  it('reads fractions and missing values as float32', () => {
    const decoded = frame({ samples: [0.5, null, 3] });
    expect(decoded.encoding).to.equal(4);
    expect(values(decoded)).to.deep.equal([0.5, Number.NaN, 3]);
  });

  it('treats an absent or null time as a device without a clock', () => {
    expect(frame({}).ts).to.equal(null);
    expect(frame({ ts: null }).ts).to.equal(null);
  });

  it('counts an instant of three sub-channels once', () => {
    expect(frame({ channel: 1, samples: [1, 2, 3, 4, 5, 6] }).instants).to.equal(2);
  });

  it('knows end, and ping with and without t', () => {
    expect(decodeText('{"type":"end"}', CHANNELS)).to.deep.equal({ type: 'end' });
    expect(decodeText('{"type":"ping"}', CHANNELS)).to.deep.equal({ type: 'ping' });
    expect(decodeText('{"type":"ping","t":5.5}', CHANNELS)).to.deep.equal({ type: 'ping', t: 5.5 });
  });

  function refused(text: string) {
    const decoded = decodeText(text, CHANNELS);
    if (!('fault' in decoded)) throw new Error('accepted');
    return decoded;
  }

  it('refuses text that is not JSON', () => {
    for (const text of ['', '{', 'samples', '{"type":"samples",}']) expect(code(text)).to.equal('bad_json');
  });

  it('names the word that is not JSON, and the channel and number of the frame', () => {
    const frame = (samples: string) => `{"type":"samples","channel":0,"seq":40,"ts":1e3,"samples":[${samples}]}`;
    for (const word of ['NaN', 'Infinity', '-Infinity', 'None', 'nan']) {
      const { detail, ...fault } = refused(frame(`1,-2.5e-3,${word},NaN`));
      expect(fault).to.deep.equal({ fault: 'bad_json', channel: 0, seq: 40 });
      expect(detail).to.contain(`${word} at character 69 is not JSON`).and.contain('null');
    }
    for (const samples of ['1,2,', '1,,2', '+1', '1 2', '1]}{"x":[2'])
      expect(refused(frame(samples)), samples).to.deep.include({ fault: 'bad_json', channel: 0, seq: 40 });
    expect(refused(frame('NaN').replace('40', 'NaN'))).to.not.have.property('seq');
    expect(refused('{"type":"NaN","x":[1,2,]}').detail).to.match(/JSON object: .*(position|token)/);
    expect(refused('{type:"end"}').detail).to.contain('type at character 1 is not JSON');
  });

  it('handles invalid text of the greatest size in little time', () => {
    const began = process.cpuUsage().user;
    for (const part of ['"\\', '"', '\\"', 'NaN,', '-', '-1', '{"a":', 'a.b'])
      expect(refused(part.repeat(65_536 / part.length)).fault).to.equal('bad_json');
    expect(process.cpuUsage().user - began).to.be.lessThan(2_000_000);
  });

  it('ignores a byte order mark', () => {
    expect(decodeText('\uFEFF{"type":"end"}', CHANNELS)).to.deep.equal({ type: 'end' });
  });

  it('refuses JSON without a known type, and fields that are missing or of another type', () => {
    for (const text of ['1', 'null', '[]', '{}', '{"type":1}', '{"type":"data"}', '{"type":"ping","t":{}}']) {
      expect(code(text)).to.equal('bad_message');
    }
    const wrong = [
      { channel: 0.5 },
      { channel: '0' },
      { channel: undefined },
      { seq: '1' },
      { seq: undefined },
      { ts: '1' },
      { samples: 1 },
      { samples: undefined },
      { samples: [1, '2'] },
      { samples: [true] },
      { samples: [[1]] },
    ];
    for (const fields of wrong) expect(decode(fields), JSON.stringify(fields)).to.include({ fault: 'bad_message' });
  });

  it('refuses messages without samples, and with a part of an instant', () => {
    expect(decode({ samples: [] })).to.include({ fault: 'bad_length' });
    expect(decode({ channel: 1, samples: [1, 2, 3, 4] })).to.include({ fault: 'bad_length' });
  });

  it('refuses numbers out of range', () => {
    for (const seq of [-1, 1.5, 2 ** 32, 2 ** 53, 1e308]) expect(decode({ seq })).to.include({ fault: 'bad_value' });
    for (const samples of [[1e308], [1, -1e39], [1e39, null]])
      expect(decode({ samples })).to.include({ fault: 'bad_value' });
    expect(code('{"type":"samples","channel":0,"seq":0,"ts":1e999,"samples":[1]}')).to.equal('bad_value');
    expect(code('{"type":"samples","channel":0,"seq":0,"samples":[1e999]}')).to.equal('bad_value');
  });

  it('reads -0 as 0', () => {
    expect(code('{"type":"samples","channel":-0,"seq":-0,"samples":[-0]}')).to.equal(null);
  });

  it('refuses a channel that the session does not have', () => {
    for (const unknown of [2, -1, 1e300]) expect(decode({ channel: unknown })).to.include({ fault: 'unknown_channel' });
  });

  it('gives a message or a documented code for any JSON and any text', () => {
    const value = fc.oneof(
      fc.jsonValue(),
      fc.double(),
      fc.integer(),
      fc.array(fc.oneof(fc.double(), fc.constant(null))),
    );
    const message = fc.record(
      {
        type: fc.constantFrom('samples', 'ping', 'end', 'x'),
        channel: value,
        seq: value,
        ts: value,
        samples: value,
        t: value,
      },
      { requiredKeys: ['type'] },
    );
    const text = fc.oneof(
      fc.string(),
      fc.jsonValue().map((v) => JSON.stringify(v)),
      message.map((m) => JSON.stringify(m)),
    );
    fc.assert(
      fc.property(text, (input) => {
        const decoded = decodeText(input, CHANNELS);
        if ('fault' in decoded) expect(FRAME_ERRORS).to.include(decoded.fault);
      }),
      { numRuns: 2000 },
    );
  });

  it('survives deeply nested JSON', () => {
    expect(code('['.repeat(30_000) + ']'.repeat(30_000))).to.be.oneOf(['bad_json', 'bad_message']);
  });
});
