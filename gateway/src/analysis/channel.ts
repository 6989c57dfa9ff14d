import type { CoreChannel, Modality } from '@device-insights/dsp-wasm';
import type { ModalityChannel } from '../store/store.js';
import { ChannelCoverage, type Interval, MEMORY_S } from './coverage.js';

const KNOWN: ReadonlySet<string> = new Set<Modality>(['ppg', 'ppg_green', 'ppg_red', 'ppg_ir', 'ecg', 'accel', 'resp']);
/**
 * A channel whose rate differs from its model's by more than this is not as its model says (ingest protocol, section
 * 4).
 */
const RATE_TOLERANCE = 0.2;

/**
 * Maximum number of sets of channels: as many channels of one modality are analysed, each at the cost of a session with one channel of each
 * modality.
 */
const MOST_SETS = 4;

/** A channel that the core analyses. */
export class AnalysedChannel {
  readonly modality: Modality;
  readonly coverage: ChannelCoverage;
  /** The periods of untrusted times that a window may contain, from the first to the last. */
  #doubt: Interval | null = null;

  constructor(
    readonly core: CoreChannel,
    /** Index of the channel in the session. */
    readonly index: number,
  ) {
    this.modality = core.modality;
    this.coverage = new ChannelCoverage(1 / core.sampleRateHz);
  }

  /** Records a period of untrusted times. */
  doubt({ start, end }: Interval): void {
    const goesOn = this.#doubt !== null && start - this.#doubt.end < MEMORY_S;
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

/** The analysed channels of a session by their index in it; channels of unknown modalities are not analysed. */
export function analysedChannels(channels: readonly ModalityChannel[]): Map<number, AnalysedChannel> {
  const analysed = new Map<number, AnalysedChannel>();
  const counts = new Map<Modality, number>();
  for (const [index, channel] of channels.entries()) {
    const { modality, sample_rate_hz: sampleRateHz, num_channels: numChannels, bit_depth: bitDepth } = channel;
    if (!isKnown(modality)) continue;
    const count = counts.get(modality) ?? 0;
    counts.set(modality, count + 1);
    if (count >= MOST_SETS) continue;
    analysed.set(index, new AnalysedChannel({ modality, sampleRateHz, numChannels, bitDepth }, index));
  }
  return analysed;
}

/**
 * Sets with one channel of each modality. With several channels of a modality, each is in one set; a set that comes after a
 * modality's last channel has that one again. So the first set has the first channel of each modality, and a session with one of
 * each has one set.
 */
export function channelSets(channels: Iterable<AnalysedChannel>): AnalysedChannel[][] {
  const byModality = new Map<Modality, AnalysedChannel[]>();
  for (const channel of channels)
    byModality.set(channel.modality, [...(byModality.get(channel.modality) ?? []), channel]);
  const lists = [...byModality.values()];
  const count = Math.max(1, ...lists.map(({ length }) => length));
  return Array.from({ length: count }, (_, k) => lists.flatMap((list) => list[Math.min(k, list.length - 1)] ?? []));
}

/** How many sets the channels make, and so as how many sessions they count. */
export function setCount(channels: readonly ModalityChannel[]): number {
  return channelSets(analysedChannels(channels).values()).length;
}

function isKnown(modality: string): modality is Modality {
  return KNOWN.has(modality);
}
