import { closeSync, openSync, readdirSync, readlinkSync } from 'node:fs';

const DESCRIPTORS = '/proc/self/fd';
/** Linux answers each read of its first page with EIO. */
const UNREADABLE = '/proc/self/mem';

/** Whether `failReads` works on this system. */
export const CAN_FAIL_READS = process.platform === 'linux';

/** Makes each read of a file fail with EIO, in this process, like a disk that is gone. The result brings the disk back. */
export function failReads(file: string): () => void {
  const descriptors = readdirSync(DESCRIPTORS).filter((n) => targetOf(n) === file);
  if (descriptors.length === 0) throw new Error(`${file} is not open`);
  for (const n of descriptors) reopen(Number(n), UNREADABLE, 'r');
  return () => {
    for (const n of descriptors) reopen(Number(n), file, 'r+');
  };
}

function targetOf(descriptor: string): string | null {
  try {
    return readlinkSync(`${DESCRIPTORS}/${descriptor}`);
  } catch {
    return null; // That of the listing itself.
  }
}

/** Opens another file under the number of an open descriptor: the system always takes the lowest free number. */
function reopen(descriptor: number, path: string, flags: string): void {
  closeSync(descriptor);
  const others: number[] = [];
  for (let n = openSync(path, flags); n !== descriptor; n = openSync(path, flags)) others.push(n);
  for (const n of others) closeSync(n);
}
