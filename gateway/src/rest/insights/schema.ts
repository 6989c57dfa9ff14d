import { z } from 'zod';
import { INSIGHT_TYPES } from '../../insight.js';
import { cursor, instant, isDataInterval, limit, NO_DATA_INTERVAL, ofDevice, oneOf } from '../fields.js';

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
    limit: limit(100, 1000).meta({ description: 'Maximum number of insights in the answer.' }),
    cursor,
  })
  .refine(({ since, until }) => since === undefined || until === undefined || since <= until, {
    path: ['since'],
    message: 'must not be after until',
  })
  .refine(isDataInterval, NO_DATA_INTERVAL);
