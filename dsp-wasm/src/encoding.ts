/** Encodings of a payload, with the numbers of the ingest protocol: little endian, interleaved sub-channels. */
export const ENCODING = { int16: 1, int24: 2, int32: 3, float32: 4 } as const;
export type Encoding = (typeof ENCODING)[keyof typeof ENCODING];

/** Bytes of a sample. */
export const BYTES_PER_SAMPLE: Readonly<Record<Encoding, number>> = { 1: 2, 2: 3, 3: 4, 4: 4 };
