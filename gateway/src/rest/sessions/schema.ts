import { z } from 'zod';
import { isoTime } from '../../instant.js';
import type { Session } from '../../store/store.js';
import { limit, ofDevice, oneOf } from '../fields.js';

const STATUS = ['open', 'closed'] as const;

export const sessionQuery = z.object({
  limit: limit(50, 200).meta({ description: 'Most sessions to give.' }),
  status: oneOf(STATUS).optional().meta({ description: 'Only sessions of this status.' }),
  device_id: ofDevice('Sessions'),
  cursor: z
    .string()
    .optional()
    .meta({ minLength: 1, description: 'Start of a page, from the Link header of the previous page.' }),
});

export const session = z
  .object({
    id: z.uuid().meta({ description: 'Id of the session.' }),
    device_id: z.string().meta({ description: 'The identifier under which the device streams.' }),
    device_model_id: z.uuid().meta({ description: 'The device model under which it streamed.' }),
    status: z.enum(STATUS).meta({ description: '`open` while the device may go on with it, then `closed`.' }),
    started_at: z.iso.datetime().meta({ description: "When the device first connected, by the service's clock." }),
    ended_at: z.iso
      .datetime()
      .optional()
      .meta({ description: 'When its last data arrived. Absent while the session is open.' }),
  })
  .meta({
    description: 'A session: one period in which one device streams.',
    examples: [
      {
        id: '7b0f6a5e-3c52-4f0e-9d55-6d1f2f0f4a11',
        device_id: 'band-17',
        device_model_id: '5c0b0a86-9a4f-4a0e-8a39-3f0c4a1f7d55',
        status: 'closed',
        started_at: '2026-01-31T08:00:00.000Z',
        ended_at: '2026-01-31T08:30:00.000Z',
      },
    ],
  });

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
