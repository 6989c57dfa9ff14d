import type { Clock } from '@device-insights/fanout/process/clock';
import { BRIDGED_MS, BYTES_PER_SAMPLE, type SampleRun } from '../analysis/analysis.js';
import type { ChannelState, Inspection, RaisedNotice, RefusedFrames } from '../peers/inspection.js';
import type { ModalityChannel } from '../store/store.js';
import type { Fault } from './frame.js';
import { keyOf, type Notice } from './notices.js';
import { SignalWatch } from './signal-watch.js';

/** Length of the record of received data, ms of data time, and most pieces in it. */
const COVERED_MS = 600_000;
const PIECES = 200;
/** Most characters kept of a text; some texts list the wrong fields. */
const MAX_DETAIL = 300;

/** A session's memory for the dashboard: small, and not stored. */
export class Trace {
  readonly #channels: readonly ModalityChannel[];
  readonly #clock: Clock;
  readonly #refused = new Map<string, RefusedFrames>();
  readonly #notices = new Map<string, RaisedNotice>();
  readonly #covered: [start: number, end: number][][];
  readonly #watch: SignalWatch;
  #frames = 0;
  #since: number;
  #connected = false;

  constructor(channels: readonly ModalityChannel[], clock: Clock) {
    this.#channels = channels;
    this.#clock = clock;
    this.#since = clock.now();
    this.#covered = channels.map(() => []);
    this.#watch = new SignalWatch(clock);
  }

  connected(isConnected: boolean): void {
    this.#connected = isConnected;
    this.#since = this.#clock.now();
  }

  accepted(): void {
    this.#frames += 1;
  }

  refused({ fault: code, detail }: Fault): void {
    const count = (this.#refused.get(code)?.count ?? 0) + 1;
    this.#refused.set(code, { code, count, detail: detail.slice(0, MAX_DETAIL) });
  }

  noticed({ code, channel: about, detail, over, insight, reason }: Notice): void {
    const channel = about ?? null;
    const key = keyOf(code, channel, insight);
    const ofType = insight && { insight, reason: String(reason) };
    if (over) this.#notices.delete(key);
    else
      this.#notices.set(key, { code, channel, detail: detail.slice(0, MAX_DETAIL), at: this.#clock.now(), ...ofType });
  }

  run(run: SampleRun): void {
    const { channel, t, period, encoding, payload } = run;
    const covered = this.#covered[channel];
    if (!covered) return;
    const end = t + (payload.length / (BYTES_PER_SAMPLE[encoding] * this.#width(channel))) * period;
    const last = covered.at(-1);
    if (last && t - last[1] <= BRIDGED_MS) last[1] = Math.max(last[1], end);
    else covered.push([t, end]);
    while (covered.length > PIECES || (covered[0] && covered[0][1] < end - COVERED_MS)) covered.shift();
    this.#watch.take(run);
  }

  /**
   * The current state.
   * @param rates the measured rate of each channel divided by the declared one; null if it is not known
   * @param channel the channel whose signal is recorded for display from now on; null for none
   */
  inspect(rates: readonly (number | null)[], lastDataAt: number | null, channel: number | null): Inspection {
    const isChannel = channel !== null && channel < this.#channels.length;
    return {
      connected: this.#connected,
      since: this.#since,
      last_data_at: lastDataAt,
      frames: this.#frames,
      refused: [...this.#refused.values()],
      notices: [...this.#notices.values()],
      channels: this.#channels.map((model, index) => this.#state(model, index, rates[index] ?? null)),
      signal: isChannel ? this.#watch.look(channel, this.#width(channel)) : null,
    };
  }

  #state({ modality, sample_rate_hz }: ModalityChannel, index: number, rate: number | null): ChannelState {
    return {
      index,
      modality,
      declared_hz: sample_rate_hz,
      measured_hz: rate === null ? null : Number((sample_rate_hz * rate).toFixed(2)),
      covered: (this.#covered[index] ?? []).map(([start, end]) => [start, end] as const),
    };
  }

  #width(channel: number): number {
    return this.#channels[channel]?.num_channels ?? 1;
  }
}
