import type { Clock } from './clock.js';

/** Lines of one text that are written, by default; further ones are counted. */
const SHOWN = 5;
const SECOND_MS = 1000;
/** Texts are constants of the program; if they are not, at most this many are counted at a time. */
const TEXTS = 1000;

/**
 * Limits the lines about faults that a client can cause as often as it wants, so that they do not fill the log: of one text
 * the first few, then their number once a second, until a second has none.
 */
export class LogLimit {
  readonly #seconds = new Map<string, { lines: number }>();

  /** @param shown lines of one text that are written before they are only counted */
  constructor(
    private readonly clock: Clock,
    private readonly shown = SHOWN,
  ) {}

  /**
   * Whether a line with this text should be written now.
   *
   * @param tell called with the number of lines left out, at the end of a second that had too many
   */
  admits(text: string, tell: (times: number) => void): boolean {
    const second = this.#seconds.get(text);
    if (second) {
      second.lines += 1;
      return second.lines <= this.shown;
    }
    if (this.#seconds.size >= TEXTS) return false;
    this.#seconds.set(text, { lines: 1 });
    this.clock.after(SECOND_MS, () => this.#end(text, tell));
    return true;
  }

  #end(text: string, tell: (times: number) => void): void {
    const left = (this.#seconds.get(text)?.lines ?? 0) - this.shown;
    if (left > 0) {
      tell(left);
      this.#seconds.set(text, { lines: this.shown });
      this.clock.after(SECOND_MS, () => this.#end(text, tell));
    } else this.#seconds.delete(text);
  }
}
