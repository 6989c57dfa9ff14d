import type { Answer, AnswerFeatures, Beat, BeatSource, Core, CoreChannel, Estimator } from '@device-insights/dsp-wasm';
import { ENCODING, BEAT_LAG_S as LAG, WINDOW_LAG_S } from '@device-insights/dsp-wasm';
import type { FrameSource } from '@device-insights/sdk';

/** Step of the estimators of a minute, s. */
export const STEP_S = 10;
const ESTIMATORS = ['hrv_ecg', 'hrv_ppg', 'rhythm_ecg', 'rhythm_ppg'] as const satisfies readonly Estimator[];

/** The answer of an estimator for the minute that ends at `end` (s). */
export interface MinuteAnswer {
  readonly estimator: (typeof ESTIMATORS)[number];
  readonly end: number;
  /** Times of the beats of that minute, as it found them. */
  readonly beats: readonly number[];
  readonly answer: Answer;
  readonly features: AnswerFeatures | null;
}

const sensorOf = (estimator: (typeof ESTIMATORS)[number]): BeatSource => (estimator.endsWith('ecg') ? 'ecg' : 'ppg');

export interface MinuteRun {
  readonly beats: Readonly<Record<BeatSource, readonly Beat[]>>;
  readonly answers: readonly MinuteAnswer[];
}

/** Beats, variability and rhythm of a source, whose frames go to the core as they are; times are those of the source in s. */
export async function runMinutes(source: FrameSource, core: Core): Promise<MinuteRun> {
  const channels = source.deviceModel.modality_channels.map(
    ({ modality, sample_rate_hz: sampleRateHz, num_channels: numChannels, bit_depth: bitDepth }) =>
      ({ modality, sampleRateHz, numChannels, bitDepth }) as CoreChannel,
  );
  const session = core.open(channels);
  if (!session) throw new Error('the core is full');
  const beats: Record<BeatSource, Beat[]> = { ecg: [], ppg: [] };
  const answers: MinuteAnswer[] = [];
  const has = (start: string) => channels.some(({ modality }) => modality.startsWith(start));
  const used = ESTIMATORS.filter((one) => has(sensorOf(one)));
  const read = (from: number, to: number) => {
    for (const source of ['ecg', 'ppg'] as const)
      if (has(source)) beats[source].push(...session.beats(source, from, to));
  };
  let done = 0;
  const advance = (t: number) => {
    for (; done + 1 <= t; done++) {
      const end = done + 1;
      core.step((['hr_ecg', 'hr_ppg'] as const).map((estimator) => ({ session, estimator, end })));
      if (end % STEP_S !== 0) continue;
      for (const estimator of used) {
        const [answer] = core.answer([{ session, estimator, end }]);
        const features = answer?.estimate ? core.features() : null;
        const ended = end - WINDOW_LAG_S;
        const beats = session.beats(sensorOf(estimator), ended - 60, ended).map(({ t }) => t);
        if (answer) answers.push({ estimator, end: ended, beats, answer, features });
      }
      read(end - STEP_S - LAG, end - LAG);
    }
  };
  for await (const { channel, ts, samples, at } of source.frames()) {
    advance(at / 1000 - 0.5);
    const { sampleRateHz = 1 } = channels[channel] ?? {};
    const payload = new Uint8Array(Float32Array.from(samples).buffer);
    if (ts >= 0) session.push(channel, ts / 1000, 1 / sampleRateHz, ENCODING.float32, payload);
  }
  advance(done + 1);
  read(Math.floor(done / STEP_S) * STEP_S - LAG, done);
  session.close();
  return { beats, answers };
}
