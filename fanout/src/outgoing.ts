import type { BusMessage } from './bus/bus.js';
import { deflatedFrame, textFrame } from './frame.js';

/** A message on its way out: framed once for all who get it, in each of the two forms only where somebody wants it. */
export class Outgoing {
  #plain: Buffer | undefined;
  #deflated: Buffer | undefined;

  constructor(readonly message: BusMessage) {}

  get plain(): Buffer {
    this.#plain ??= textFrame(this.message.text);
    return this.#plain;
  }

  get deflated(): Buffer {
    this.#deflated ??= deflatedFrame(this.message.text);
    return this.#deflated;
  }
}
