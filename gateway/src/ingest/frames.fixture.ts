import type { ModalityChannel } from '../store/store.js';

/** A channel of a model, with the fields that tests need. */
export function channel(fields: Partial<ModalityChannel> = {}): ModalityChannel {
  return {
    ch_id: '0d2f6a1e-7d1c-4a55-9a6f-0d5a7c3b1e42',
    modality: 'ppg_green',
    sample_rate_hz: 100,
    bit_depth: 24,
    num_channels: 1,
    ...fields,
  };
}

export interface Header {
  version?: number;
  channel?: number;
  encoding?: number;
  reserved?: number;
  seq?: number;
  ts?: number;
}

/** A binary frame, written field by field from the table of the protocol (section 2). */
export function binary(header: Header, payload: Uint8Array): Buffer {
  const head = Buffer.alloc(16);
  head.writeUInt8(header.version ?? 1, 0);
  head.writeUInt8(header.channel ?? 0, 1);
  head.writeUInt8(header.encoding ?? 1, 2);
  head.writeUInt8(header.reserved ?? 0, 3);
  head.writeUInt32LE(header.seq ?? 0, 4);
  head.writeDoubleLE(header.ts ?? Number.NaN, 8);
  return Buffer.concat([head, payload]);
}

/** int16 samples, little endian. */
export function int16(...values: number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 2);
  values.forEach((value, i) => {
    bytes.writeInt16LE(value, i * 2);
  });
  return bytes;
}

/** float32 samples, little endian. */
export function float32(...values: number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4);
  values.forEach((value, i) => {
    bytes.writeFloatLE(value, i * 4);
  });
  return bytes;
}
