/**
 * Calls `stop` when the standard output takes no more. If its reader has closed it (`| head`), that is no failure; any
 * other cause is printed on stderr, and makes the exit code 1.
 */
export function followOutput(stop: () => void): void {
  process.stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
    if (code !== 'EPIPE' && process.exitCode === undefined) {
      console.error(`the output could not be written: ${message}`);
      process.exitCode = 1;
    }
    stop();
  });
}
