import type { Clock, Timer } from './clock.js';

/** Waits for work, at most this long, ms. Returns whether it was done in time; rejects as the work does. */
export async function within(ms: number, work: Promise<unknown>, clock: Clock): Promise<boolean> {
  let timer: Timer | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = clock.after(ms, () => resolve(false));
  });
  try {
    return await Promise.race([work.then(() => true), late]);
  } finally {
    timer?.cancel();
  }
}
