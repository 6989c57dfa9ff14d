import { execFileSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const MEGABYTES = 48;

/** A small file system (tmpfs, which only root can mount) that can be filled to its last byte. */
export class Disk {
  readonly path = mkdtempSync(join(tmpdir(), 'device-insights-disk-'));
  readonly #ballast = join(this.path, 'ballast');

  /** Null if this user cannot mount one. */
  static mount(): Disk | null {
    if (process.getuid?.() !== 0) return null;
    const disk = new Disk();
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${MEGABYTES}m`, 'tmpfs', disk.path], { stdio: 'pipe' });
      return disk;
    } catch {
      rmSync(disk.path, { recursive: true, force: true, maxRetries: 10 });
      return null;
    }
  }

  /** Fills it completely. */
  fill(): void {
    const file = openSync(this.#ballast, 'a');
    try {
      for (let bytes = 2 ** 16; bytes >= 2 ** 12; ) bytes = this.#room() < bytes ? bytes / 2 : this.#write(file, bytes);
    } finally {
      closeSync(file);
    }
  }

  relieve(): void {
    rmSync(this.#ballast, { force: true });
  }

  unmount(): void {
    execFileSync('umount', ['-l', this.path], { stdio: 'pipe' });
    rmSync(this.path, { recursive: true, force: true, maxRetries: 10 });
  }

  #room(): number {
    const { bavail, bsize } = statfsSync(this.path);
    return bavail * bsize;
  }

  #write(file: number, bytes: number): number {
    writeSync(file, Buffer.alloc(bytes));
    return bytes;
  }
}
