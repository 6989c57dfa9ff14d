import { z } from 'zod';
import { INSIGHT_TYPES, UNITS } from '../insight.js';
import { instant, limit, oneOf } from './fields.js';

export const insightQuery = z
  .object({
    type: oneOf(INSIGHT_TYPES).optional().meta({ description: 'Insights of this type only.' }),
    since: instant().optional().meta({ description: 'Only insights with ts at or after this instant.' }),
    until: instant().optional().meta({ description: 'Only insights with ts before this instant.' }),
    limit: limit(100, 1000).meta({ description: 'Most insights to give.' }),
    cursor: z
      .string()
      .optional()
      .meta({ description: 'Where a page begins: out of the Link header of the one before.' }),
  })
  .refine(({ since, until }) => since === undefined || until === undefined || since <= until, {
    path: ['since'],
    message: 'must not be after until',
  });

const EPOCH_MS = () => z.number().meta({ description: 'Milliseconds since the epoch.' });
const SHARE = () => z.number().min(0).max(1);

export const insight = z
  .object({
    type: z.enum(INSIGHT_TYPES),
    value: z.number().meta({ description: 'The reading, in `unit`.' }),
    unit: z.enum(Object.values(UNITS)),
    ts: z.int().meta({ description: 'Publish time, milliseconds since the epoch.' }),
    session_id: z.uuid(),
    device_id: z.string(),
    confidence: SHARE().meta({ description: 'Signal quality.' }),
    sqi_class: z.enum(['excellent', 'acceptable', 'unfit']),
    actual_start: EPOCH_MS().meta({ description: 'Start of the window of data, milliseconds since the epoch.' }),
    actual_end: EPOCH_MS().meta({ description: 'End of the window of data, milliseconds since the epoch.' }),
    coverage: SHARE().meta({ description: 'Share of the window that is filled with data.' }),
    e2e_latency_ms: z.number().meta({ description: 'ts - actual_end.' }),
    algorithm: z.string().meta({ description: 'slug@version of the algorithm that made it.' }),
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
