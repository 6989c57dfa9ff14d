import type { Clock, Timer } from './clock.js';

/** Parts of a wait. */
const PARTS = 10;

/**
 * Waits for work, at most this long, ms. Returns whether it was done in time; rejects as the work does. While this
 * process stands still, at most a tenth of the wait goes by: what came meanwhile has still to be read.
 */
export async function within(ms: number, work: Promise<unknown>, clock: Clock): Promise<boolean> {
  let timer: Timer | undefined;
  const late = new Promise<boolean>((resolve) => {
    const wait = (parts: number) => {
      if (parts === 0) resolve(false);
      else timer = clock.after(ms / PARTS, () => wait(parts - 1));
    };
    wait(PARTS);
  });
  try {
    return await Promise.race([work.then(() => true), late]);
  } finally {
    timer?.cancel();
  }
}
