import { stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { registerLevel } from '@device-insights/fanout/platform/operations';
import type { Registry } from 'prom-client';
import { BACKUP_MARK } from './backup.js';

/** Registers the free space of a data directory, and the time of its last backup. */
export function registerDisk(registry: Registry, directory: string): void {
  const free = 'Bytes of the file system of DATA_DIR that are free for the service; 0 if it cannot be asked';
  registerLevel(registry, 'device_insights_disk_free_bytes', free, () =>
    statfs(directory).then(
      ({ bavail, bsize }) => bavail * bsize,
      () => 0,
    ),
  );
  const last = 'Unix time of the last backup of DATA_DIR by `admin backup`; 0 if there was none';
  registerLevel(registry, 'device_insights_last_backup_timestamp_seconds', last, () =>
    stat(join(directory, BACKUP_MARK)).then(
      ({ mtimeMs }) => Math.round(mtimeMs / 1000),
      () => 0,
    ),
  );
}
