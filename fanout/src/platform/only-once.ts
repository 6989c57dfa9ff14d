/** A function that calls `run` the first time that it is called, and later does nothing. */
export function onlyOnce(run: () => void): () => void {
  let done = false;
  return () => {
    if (done) return;
    done = true;
    run();
  };
}
