import type { SampleRun } from '../analysis/sample-run.js';

/** Turns the bits of a float32 into its value. */
const FLOAT = new DataView(new ArrayBuffer(4));

/** The sample whose first byte is at `at`, little endian; NaN where a value is missing. */
export function sampleAt(bytes: Uint8Array, encoding: SampleRun['encoding'], at: number): number {
  const low = byte(bytes, at) | (byte(bytes, at + 1) << 8);
  if (encoding === 1) return (low << 16) >> 16;
  if (encoding === 2) return low | ((byte(bytes, at + 2) << 24) >> 8);
  const word = low | (byte(bytes, at + 2) << 16) | (byte(bytes, at + 3) << 24);
  if (encoding === 3) return word;
  FLOAT.setInt32(0, word);
  return FLOAT.getFloat32(0);
}

function byte(bytes: Uint8Array, at: number): number {
  return bytes[at] ?? 0;
}
