/**
 * Loads the service and starts it. Loading opens its files almost all at once, more of them than the service needs
 * later, so this is where a low descriptor limit shows: as one line, not as a stack of the loader.
 */
try {
  await import('./process.js');
} catch (error) {
  if (!(error instanceof Error && 'code' in error && error.code === 'EMFILE')) throw error;
  console.error(
    'too few files may be open: raise the descriptor limit of the process (ulimit -n), best to 1024 or more',
  );
  process.exit(1);
}
