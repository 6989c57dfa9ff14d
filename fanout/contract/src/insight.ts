import { z } from 'zod';
import { INSIGHT_TYPES, type InsightType, SQI_CLASSES, UNITS } from './insight-types.js';

const EPOCH_MS = z.number();
const SHARE = z.number().min(0).max(1);

/** An insight in its stored form, which REST returns: `value` and `confidence` with up to three decimals. */
export const insight = z
  .object({
    type: z.string().meta({
      description:
        'What is measured: `hr` (heart rate), `spo2`, `rr` (respiratory rate), `hrv` (heart rate variability: RMSSD) or `rhythm` (probability that the beats are irregular as in atrial fibrillation; no diagnosis). Later versions may add types: ignore unknown ones.',
      examples: INSIGHT_TYPES,
    }),
    value: z.number().meta({ description: 'The reading, in `unit`.' }),
    unit: z.string().meta({
      description: 'Unit of the value: bpm (hr), % (spo2, rhythm), brpm (rr) or ms (hrv).',
      examples: Object.values(UNITS),
    }),
    ts: z.int().meta({ description: 'Publish time, milliseconds since the epoch.' }),
    session_id: z.uuid().meta({ description: 'The session whose data it was computed from.' }),
    device_id: z.string().meta({ description: 'The identifier under which the device streams.' }),
    confidence: SHARE.meta({ description: 'Signal quality, 0 to 1.' }),
    sqi_class: z.enum(SQI_CLASSES).meta({
      description: 'Class of the confidence. Do not present what is `unfit` as authoritative.',
    }),
    actual_start: EPOCH_MS.meta({ description: 'Start of the window of data, milliseconds since the epoch.' }),
    actual_end: EPOCH_MS.meta({ description: 'End of the window of data, milliseconds since the epoch.' }),
    coverage: SHARE.meta({ description: 'Share of the window that is filled with data, 0 to 1.' }),
    e2e_latency_ms: z.number().meta({
      description:
        "ts - actual_end: from the end of the data to the publication, ms. Negative while the device's clock is ahead of the service's.",
    }),
    algorithm: z.string().meta({ description: 'slug@version of the algorithm that computed the insight.' }),
    sdnn: z
      .number()
      .exactOptional()
      .meta({ description: 'Of hrv: standard deviation of the intervals between beats, ms.' }),
    pnn50: z.number().exactOptional().meta({
      description: 'Of hrv: share of the intervals that differ from the one before by more than 50 ms, %.',
    }),
  })
  .meta({
    description: 'An insight in its stored form.',
    examples: [
      {
        type: 'hr',
        value: 71.4,
        unit: 'bpm',
        ts: 1_763_600_008_120,
        session_id: '7b0f6a5e-3c52-4f0e-9d55-6d1f2f0f4a11',
        device_id: 'band-17',
        confidence: 0.93,
        sqi_class: 'excellent',
        actual_start: 1_763_600_000_000,
        actual_end: 1_763_600_008_000,
        coverage: 1,
        e2e_latency_ms: 120,
        algorithm: 'hr-ppg@1.0.0',
      },
    ],
  });

/** An insight as subscribers receive it: exactly these fields of the stored form. */
export const liveInsight = insight
  .pick({
    type: true,
    value: true,
    unit: true,
    ts: true,
    session_id: true,
    device_id: true,
    confidence: true,
    sqi_class: true,
  })
  .extend({
    ts: z.int().meta({
      description:
        'Publish time, ms since the epoch; not when the data were measured. In a back-fill, a device that was offline sends older data, and their readings have a ts of now. The stored form of the same reading (the same session_id, type and ts) has actual_end, the end of its data, and e2e_latency_ms, which is ts - actual_end: read it with `GET /v1/insights` and type, device_id, since (ts) and until (ts + 1 ms) for the first reading of a session, and again when readings arrive faster than the data (hr and spo2 once a second, rr every 2 s, hrv and rhythm every 10 s).',
    }),
  })
  .meta({ title: 'Live insight' });

/** The stored form, of a type that this version computes. */
export type StoredInsight = Readonly<z.infer<typeof insight>> & { readonly type: InsightType };
export type LiveInsight = Readonly<z.infer<typeof liveInsight>> & { readonly type: InsightType };
