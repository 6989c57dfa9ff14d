import { constants, deflateRawSync } from 'node:zlib';

const FIN_TEXT = 0x81;
/** RSV1: the payload is compressed (RFC 7692, section 6). */
const FIN_DEFLATED_TEXT = 0xc1;

/** A small window and little memory: messages are short, and setting up the compressor is most of its cost. */
const DEFLATE = { windowBits: 12, memLevel: 5, finishFlush: constants.Z_SYNC_FLUSH };
/** The end of a sync flush, which RFC 7692, section 7.2.1, removes: 00 00 FF FF. */
const TAIL_BYTES = 4;

/** Frames a text message as a server sends it: one unfragmented, unmasked WebSocket frame (RFC 6455, section 5.2). */
export function textFrame(text: string): Buffer {
  const length = Buffer.byteLength(text);
  const header = headerBytes(length);
  const frame = Buffer.allocUnsafe(header + length);
  writeHeader(frame, FIN_TEXT, length);
  frame.write(text, header);
  return frame;
}

/**
 * The same with permessage-deflate and no context takeover (RFC 7692): the frame does not depend on earlier messages,
 * so it serves all subscribers that have negotiated this. If it would not be shorter, the frame is uncompressed.
 */
export function deflatedFrame(text: string): Buffer {
  const payload = deflateRawSync(text, DEFLATE).subarray(0, -TAIL_BYTES);
  if (payload.length >= Buffer.byteLength(text)) return textFrame(text);
  const header = headerBytes(payload.length);
  const frame = Buffer.allocUnsafe(header + payload.length);
  writeHeader(frame, FIN_DEFLATED_TEXT, payload.length);
  payload.copy(frame, header);
  return frame;
}

function headerBytes(length: number): number {
  return length < 126 ? 2 : length < 65536 ? 4 : 10;
}

function writeHeader(frame: Buffer, first: number, length: number): void {
  frame[0] = first;
  if (length < 126) {
    frame[1] = length;
  } else if (length < 65536) {
    frame[1] = 126;
    frame.writeUInt16BE(length, 2);
  } else {
    frame[1] = 127;
    frame.writeBigUInt64BE(BigInt(length), 2);
  }
}
