import type { CoreChannel, Encoding, Modality } from '@device-insights/dsp-wasm';
import type { ModalityChannel } from '../store/store.js';
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
