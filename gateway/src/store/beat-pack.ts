import { BEAT_SOURCES, type Beat, type BeatBlock, BLOCK_S } from '../beat.js';
import { StoreRefused } from './store.js';

/** Bytes of a beat: its time in the block, tenths of a ms; then 10 bits of quality, thousandths; then a bit of source. */
const BYTES = 4;
const QUALITIES = 1024;
const SOURCES = BEAT_SOURCES.length;

/** The beats of a block as text: base64 of 32 bits, little endian, for each. Throws `StoreRefused` for one outside the block. */
export function packed({ start, beats }: BeatBlock): string {
  const bytes = Buffer.alloc(BYTES * beats.length);
  for (const [i, { t, source, quality }] of beats.entries()) {
    const tenths = Math.round(10 * (t - start));
    if (!(tenths >= 0 && tenths <= 10_000 * BLOCK_S)) throw new StoreRefused(`a beat at ${t} ms is outside its block`);
    const value = (tenths * QUALITIES + Math.round(1000 * quality)) * SOURCES + BEAT_SOURCES.indexOf(source);
    bytes.writeUInt32LE(value, BYTES * i);
  }
  return bytes.toString('base64');
}

/** The beats of a packed block. */
export function unpacked(start: number, text: string): Beat[] {
  const bytes = Buffer.from(text, 'base64');
  return Array.from({ length: bytes.length / BYTES }, (_, i) => {
    const value = bytes.readUInt32LE(BYTES * i);
    const quality = (Math.floor(value / SOURCES) % QUALITIES) / 1000;
    const t = Math.round(10 * start + Math.floor(value / SOURCES / QUALITIES)) / 10;
    return { t, source: BEAT_SOURCES[value % SOURCES] ?? 'ecg', quality };
  });
}
