import type { CoreChannel, Encoding, Modality } from '@device-insights/dsp-wasm';
import type { ModalityChannel } from '../store/store.js';
import type { SampleRun } from './analysis.js';
import { ChannelCoverage, type Interval } from './coverage.js';

const KNOWN: ReadonlySet<string> = new Set<Modality>(['ppg', 'ppg_green', 'ppg_red', 'ppg_ir', 'ecg', 'accel', 'resp']);
/** Size of one sample. */
export const BYTES_PER_SAMPLE: Readonly<Record<Encoding, number>> = { 1: 2, 2: 3, 3: 4, 4: 4 };
/** Farther off the model's rate than this, a channel is not what its model says (ingest protocol, section 4). */
const RATE_TOLERANCE = 0.2;

/** A channel which the core analyses: the first of its modality in the session. */
export class AnalysedChannel {
  readonly modality: Modality;
  readonly coverage: ChannelCoverage;

  /** @param coreIndex its index among the channels opened in the core */
  constructor(
    readonly coreIndex: number,
    readonly core: CoreChannel,
  ) {
    this.modality = core.modality;
    this.coverage = new ChannelCoverage(1 / core.sampleRateHz);
  }

  /** Whether its samples come, over a window, at a rate that is not its model's. */
  isOffRate(window: Interval): boolean {
    return Math.abs(this.coverage.rate(window) / this.core.sampleRateHz - 1) > RATE_TOLERANCE;
  }
}

/** The analysed channels of a session, by channel index; those of unknown or repeated modalities have none. */
export function analysedChannels(channels: readonly ModalityChannel[]): Map<number, AnalysedChannel> {
  const analysed = new Map<number, AnalysedChannel>();
  const seen = new Set<string>();
  channels.forEach((c, index) => {
    if (!isKnown(c.modality) || seen.has(c.modality)) return;
    seen.add(c.modality);
    const core = { modality: c.modality, sampleRateHz: c.sample_rate_hz, numChannels: c.num_channels };
    analysed.set(index, new AnalysedChannel(analysed.size, core));
  });
  return analysed;
}

function isKnown(modality: string): modality is Modality {
  return KNOWN.has(modality);
}

/** A part of a run that lies within one whole second of data time; times in seconds since the first instant. */
export interface RunPart {
  readonly start: number;
  readonly period: number;
  readonly lost: number;
  readonly instants: number;
  readonly payload: Uint8Array;
}

/**
 * Cuts a run at whole seconds, so that no step waits inside a part and missing instants are counted by the second.
 * Instants before the session's first instant are left out: no window holds them.
 */
export function* splitAtSeconds(run: SampleRun, firstInstant: number, instantBytes: number): Generator<RunPart> {
  const period = run.period / 1000;
  const t = (run.t - firstInstant) / 1000;
  const count = run.payload.length / instantBytes;
  let from = t < 0 ? Math.ceil(-t / period) : 0;
  let lost = run.lost;
  while (from < count) {
    const start = t + from * period;
    const second = Math.floor(start) + 1;
    const instants = Math.min(count - from, Math.max(1, Math.ceil((second - start) / period - 1e-6)));
    const payload = run.payload.subarray(from * instantBytes, (from + instants) * instantBytes);
    yield { start, period, lost, instants, payload };
    lost = 0;
    from += instants;
  }
}
