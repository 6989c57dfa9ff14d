import type { Clock } from '@device-insights/fanout/platform/clock';
import { BRIDGED_MS, BYTES_PER_SAMPLE, type SampleRun } from '../analysis/sample-run.js';
import { AT_REST } from '../insight.js';
import type { ChannelState, Inspection } from '../peers/inspection.js';
import type { Diagnostics, ModalityChannel, RefusedFrames } from '../store/store.js';
import type { Fault } from './frame.js';
import { MAX_DETAIL, type Notices } from './notices.js';
import { SignalWatch } from './signal-watch.js';

/** Length of the record of received data, ms of data time, and most pieces in it. */
const COVERED_MS = 600_000;
const PIECES = 200;
/** Maximum length of diagnostics, as JSON in UTF-8, bytes. */
const MAX_DIAGNOSTICS = 8192;

/** A session's memory of the problems of its data, which is stored as diagnostics, and of its signal, for the dashboard alone. */
export class Trace {
  readonly #refused = new Map<string, RefusedFrames>();
  readonly #covered: [start: number, end: number][][];
  readonly #watch: SignalWatch;
  #frames = 0;
  #since: number;
  #connected = false;

  /** @param earlier the refused frames that a former owner of the session has kept */
  constructor(
    private readonly channels: readonly ModalityChannel[],
    private readonly clock: Clock,
    private readonly notices: Notices,
    earlier: readonly RefusedFrames[] = [],
  ) {
    for (const refused of earlier) this.#refused.set(refused.code, refused);
    this.#since = clock.now();
    this.#covered = channels.map(() => []);
    this.#watch = new SignalWatch(clock);
  }

  connected(isConnected: boolean): void {
    this.#connected = isConnected;
    this.#since = this.clock.now();
  }

  accepted(): void {
    this.#frames += 1;
  }

  refused({ fault: code, detail }: Fault): void {
    const count = (this.#refused.get(code)?.count ?? 0) + 1;
    this.#refused.set(code, { code, count, detail: detail.slice(0, MAX_DETAIL) });
  }

  /**
   * The code of the newest problem that persists; null for none.
   * @param hasData whether the session has data; without any, refused frames are the cause of everything else
   */
  problem(hasData: boolean): string | null {
    if (!hasData && this.#refused.size > 0) return 'refused';
    const present = this.notices.all.filter(({ isOver, insight }) => !isOver && !AT_REST.has(insight ?? ''));
    const newest = present.toSorted((a, b) => b.lastAt - a.lastAt)[0];
    return newest?.code ?? (this.#refused.size > 0 ? 'refused' : null);
  }

  /**
   * What is kept of the problems of the data: of too much, the newest notices.
   * @param rates the measured rate of each channel divided by the declared one; null if it is not known
   */
  diagnostics(rates: readonly (number | null)[]): Diagnostics {
    const refused = [...this.#refused.values()];
    const channels = this.channels.map(({ sample_rate_hz: declaredHz }, index) => ({
      ...{ index, declaredHz, measuredHz: rateOf(declaredHz, rates[index] ?? null) },
    }));
    const notices = this.notices.all.toSorted((a, b) => a.lastAt - b.lastAt);
    while (notices.length > 0 && lengthOf({ notices, refused, channels }) > MAX_DIAGNOSTICS) notices.shift();
    return { notices, refused, channels };
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
    const isChannel = channel !== null && channel < this.channels.length;
    return {
      connected: this.#connected,
      since: this.#since,
      last_data_at: lastDataAt,
      frames: this.#frames,
      refused: [...this.#refused.values()],
      notices: this.notices.all.flatMap(({ firstAt, lastAt: at, count, isOver, ...notice }) =>
        isOver ? [] : [{ ...notice, at }],
      ),
      channels: this.channels.map((model, index) => this.#state(model, index, rates[index] ?? null)),
      signal: isChannel ? this.#watch.look(channel, this.#width(channel)) : null,
    };
  }

  #state({ modality, sample_rate_hz }: ModalityChannel, index: number, rate: number | null): ChannelState {
    return {
      index,
      modality,
      declared_hz: sample_rate_hz,
      measured_hz: rateOf(sample_rate_hz, rate),
      covered: (this.#covered[index] ?? []).map(([start, end]) => [start, end] as const),
    };
  }

  #width(channel: number): number {
    return this.channels[channel]?.num_channels ?? 1;
  }
}

function rateOf(declared: number, relative: number | null): number | null {
  return relative === null ? null : Number((declared * relative).toFixed(2));
}

function lengthOf(diagnostics: Diagnostics): number {
  return Buffer.byteLength(JSON.stringify(diagnostics));
}
