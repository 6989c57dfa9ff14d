import { z } from 'zod';
import { INSIGHT_TYPES, UNITS } from '../../insight.js';
import { instant, isDataInterval, limit, NO_DATA_INTERVAL, ofDevice, oneOf } from '../fields.js';

export const insightQuery = z
  .object({
    type: oneOf(INSIGHT_TYPES).optional().meta({ description: 'Only insights of this type.' }),
    device_id: ofDevice('Insights'),
    since: instant().optional().meta({ description: 'Only insights with ts at or after this instant.' }),
    until: instant().optional().meta({ description: 'Only insights with ts before this instant.' }),
    data_since: instant().optional().meta({
      description: 'Only insights with actual_end at or after this instant. They are ordered by actual_end then.',
    }),
    data_until: instant()
      .optional()
      .meta({ description: 'Only insights with actual_end before this instant. They are ordered by actual_end then.' }),
    limit: limit(100, 1000).meta({ description: 'Most insights to give.' }),
    cursor: z
      .string()
      .optional()
      .meta({ minLength: 1, description: 'Start of a page, from the Link header of the previous page.' }),
  })
  .refine(({ since, until }) => since === undefined || until === undefined || since <= until, {
    path: ['since'],
    message: 'must not be after until',
  })
  .refine(isDataInterval, NO_DATA_INTERVAL);

const EPOCH_MS = () => z.number().meta({ description: 'Milliseconds since the epoch.' });
const SHARE = () => z.number().min(0).max(1);

export const insight = z
  .object({
    type: z.string().meta({
      description:
        'The vital sign: `hr` (heart rate), `spo2` or `rr` (respiratory rate). Later versions may add types: ignore unknown ones.',
      examples: INSIGHT_TYPES,
    }),
    value: z.number().meta({ description: 'The reading, in `unit`.' }),
    unit: z.string().meta({
      description: 'Unit of the value: bpm (hr), % (spo2) or brpm (rr).',
      examples: Object.values(UNITS),
    }),
    ts: z.int().meta({ description: 'Publish time, milliseconds since the epoch.' }),
    session_id: z.uuid().meta({ description: 'The session whose data it was made of.' }),
    device_id: z.string().meta({ description: 'The identifier under which the device streams.' }),
    confidence: SHARE().meta({ description: 'Signal quality, 0 to 1.' }),
    sqi_class: z.enum(['excellent', 'acceptable', 'unfit']).meta({
      description: 'Class of the confidence. Do not present what is `unfit` as authoritative.',
    }),
    actual_start: EPOCH_MS().meta({ description: 'Start of the window of data, milliseconds since the epoch.' }),
    actual_end: EPOCH_MS().meta({ description: 'End of the window of data, milliseconds since the epoch.' }),
    coverage: SHARE().meta({ description: 'Share of the window that is filled with data, 0 to 1.' }),
    e2e_latency_ms: z.number().meta({
      description:
        "ts - actual_end: from the end of the data to the publication, ms. Negative while the device's clock is ahead of the service's.",
    }),
    algorithm: z.string().meta({ description: 'slug@version of the algorithm that computed the insight.' }),
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
