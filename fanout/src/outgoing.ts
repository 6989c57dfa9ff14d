import type { BusMessage } from './bus/bus.js';
import { deflatedFrame, textFrame } from './frame.js';

/** An outgoing message: framed once for all its receivers, in each of the two forms only if a receiver needs it. */
export class Outgoing {
  #plain: Buffer | undefined;
  #deflated: Buffer | undefined;

  constructor(
    readonly message: BusMessage,
    /** Its number among the messages of its channel. */
    readonly n: number,
  ) {}

  get plain(): Buffer {
    this.#plain ??= textFrame(this.message.text);
    return this.#plain;
  }

  get deflated(): Buffer {
    this.#deflated ??= deflatedFrame(this.message.text);
    return this.#deflated;
  }
}
