import { platform } from 'node:process';
import { pathToFileURL } from 'node:url';
import Libsql from 'libsql';

/**
 * Opens a connection to a file. It uses SQLite's own file access: that of libsql 0.5 ignores an error of a read, and
 * takes whatever the memory held for the page, which the next write then stores
 * (https://github.com/utelle/SQLite3MultipleCiphers/pull/272).
 *
 * @param timeout longest time that a call blocks for another connection's lock, ms
 * @param mode `rwc` creates a missing file; `ro` writes nothing, not even when the connection is closed
 */
export function connect(file: string, timeout: number, mode: 'rwc' | 'ro' = 'rwc'): Libsql.Database {
  const url = pathToFileURL(file);
  url.searchParams.set('vfs', platform === 'win32' ? 'win32' : 'unix');
  url.searchParams.set('mode', mode);
  return new Libsql(url.href, { timeout });
}
