import { z } from 'zod';
import type { Session } from '../store/store.js';
import { limit, oneOf } from './fields.js';
import { isoTime } from './instant.js';

const STATUS = ['open', 'closed'] as const;

export const sessionQuery = z.object({
  limit: limit(50, 200).meta({ description: 'Most sessions to give.' }),
  status: oneOf(STATUS).optional().meta({ description: 'Sessions of this status only.' }),
  cursor: z.string().optional().meta({ description: 'Where a page begins: out of the Link header of the one before.' }),
});

export const session = z
  .object({
    id: z.uuid(),
    device_id: z.string().meta({ description: 'The identifier under which the device streams.' }),
    device_model_id: z.uuid(),
    status: z.enum(STATUS),
    started_at: z.iso.datetime(),
    ended_at: z.iso.datetime().optional().meta({ description: 'Absent while the session is open.' }),
  })
  .meta({ description: 'A session: one stretch of streaming of one device.' });

/** The session in an answer. */
export function sessionAnswer(row: Session): z.input<typeof session> {
  return {
    id: row.id,
    device_id: row.deviceId,
    device_model_id: row.deviceModelId,
    status: row.status,
    started_at: isoTime(row.startedAt),
    ...(row.endedAt !== null && { ended_at: isoTime(row.endedAt) }),
  };
}
