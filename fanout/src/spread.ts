import type { Clock } from './process/clock.js';
import type { Subscriber } from './subscriber.js';

/** Closes subscribers with 1012, evenly over `windowMs`, so that their reconnects do not arrive all at once. */
export function closeSpread(subscribers: Iterable<Subscriber>, detail: string, windowMs: number, clock: Clock): void {
  const all = [...subscribers];
  for (const [index, subscriber] of all.entries()) {
    clock.after((windowMs * index) / all.length, () => subscriber.close('restarting', detail));
  }
}
