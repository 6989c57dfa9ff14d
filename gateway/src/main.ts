/**
 * Loads the service and starts it. Loading opens its files almost all at once, more of them than the service needs
 * later, so this is where a low descriptor limit shows: as one line, not as a stack of the loader. To Node, a package
 * whose description it cannot open is missing.
 */
try {
  await import('./process.js');
} catch (error) {
  const code = error instanceof Error && 'code' in error ? error.code : null;
  if (code !== 'EMFILE' && code !== 'ERR_MODULE_NOT_FOUND') throw error;
  const missing = code === 'EMFILE' ? '' : `${error}; if nothing is missing, `;
  console.error(
    `${missing}too few files may be open: raise the descriptor limit of the process (ulimit -n), best to 1024 or more`,
  );
  process.exit(1);
}
