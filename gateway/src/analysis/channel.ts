import type { CoreChannel, Modality } from '@device-insights/dsp-wasm';
import type { ModalityChannel } from '../store/store.js';
import { ChannelCoverage, type Interval, MEMORY } from './coverage.js';

const KNOWN: ReadonlySet<string> = new Set<Modality>(['ppg', 'ppg_green', 'ppg_red', 'ppg_ir', 'ecg', 'accel', 'resp']);
/**
 * A channel whose rate differs from its model's by more than this is not as its model says (ingest protocol, section
 * 4).
 */
const RATE_TOLERANCE = 0.2;

/** A channel that the core analyses: the first of its modality in the session. */
export class AnalysedChannel {
  readonly modality: Modality;
  readonly coverage: ChannelCoverage;
  /** The periods of untrusted times that a window may contain, from the first to the last. */
  #doubt: Interval | null = null;

  /** @param coreIndex its index among the channels opened in the core */
  constructor(
    readonly coreIndex: number,
    readonly core: CoreChannel,
  ) {
    this.modality = core.modality;
    this.coverage = new ChannelCoverage(1 / core.sampleRateHz);
  }

  /** Records a period of untrusted times. */
  doubt({ start, end }: Interval): void {
    const goesOn = this.#doubt !== null && start - this.#doubt.end < MEMORY;
    this.#doubt = { start: goesOn ? (this.#doubt?.start ?? start) : start, end };
  }

  /** Whether a window contains untrusted times. */
  isDoubtful({ start, end }: Interval): boolean {
    return this.#doubt !== null && start < this.#doubt.end && this.#doubt.start < end;
  }

  /** Whether the rate of its samples over a window differs from its model's. */
  isOffRate(window: Interval): boolean {
    return Math.abs(this.coverage.rate(window) / this.core.sampleRateHz - 1) > RATE_TOLERANCE;
  }
}

/**
 * The analysed channels of a session, by channel index; channels of unknown or repeated modalities are not analysed.
 */
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
