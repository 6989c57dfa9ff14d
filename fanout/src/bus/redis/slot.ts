/** Number of slots of a Redis Cluster. */
export const SLOTS = 16384;

/** CRC-16/XMODEM, as Redis Cluster uses it (polynomial 0x1021, initial value 0). */
const TABLE = Uint16Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 8;
  for (let bit = 0; bit < 8; bit++) crc = crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1;
  return crc;
});

/** The slot of a key or a sharded channel (Redis Cluster specification, "Key distribution model" and "Hash tags"). */
export function slotOf(key: string): number {
  let crc = 0;
  for (const byte of Buffer.from(hashedPart(key))) crc = ((crc << 8) & 0xffff) ^ (TABLE[(crc >> 8) ^ byte] ?? 0);
  return crc % SLOTS;
}

/** The text between the first `{` and the next `}`, if it is not empty; otherwise the whole key. */
function hashedPart(key: string): string {
  const open = key.indexOf('{');
  const close = open < 0 ? -1 : key.indexOf('}', open + 1);
  return close > open + 1 ? key.slice(open + 1, close) : key;
}
