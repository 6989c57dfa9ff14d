import { z } from 'zod';
import { isoTime } from '../../instant.js';
import type { Session } from '../../store/store.js';
import { instant, isDataInterval, limit, NO_DATA_INTERVAL, ofDevice, oneOf } from '../fields.js';

const STATUS = ['open', 'closed'] as const;

export const sessionQuery = z
  .object({
    limit: limit(50, 200).meta({ description: 'Most sessions to give.' }),
    status: oneOf(STATUS).optional().meta({ description: 'Only sessions of this status.' }),
    device_id: ofDevice('Sessions'),
    data_since: instant().optional().meta({ description: 'Only sessions with data at or after this instant.' }),
    data_until: instant().optional().meta({ description: 'Only sessions with data before this instant.' }),
    cursor: z
      .string()
      .optional()
      .meta({ minLength: 1, description: 'Start of a page, from the Link header of the previous page.' }),
  })
  .refine(isDataInterval, NO_DATA_INTERVAL);

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
    data_start: z.iso
      .datetime()
      .optional()
      .meta({ description: "Time of its first instant, by the device's clock. Absent while there are no data." }),
    data_end: z.iso.datetime().optional().meta({
      description: "Time of its newest instant, by the device's clock, up to 5 s old. Absent while there are no data.",
    }),
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
        data_start: '2026-01-31T08:00:01.000Z',
        data_end: '2026-01-31T08:29:59.000Z',
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
    ...dataSpan(row),
  };
}

/** First and last instant of the session's data; none before the first data. */
function dataSpan({ progress: { firstInstant, lastInstant } }: Session) {
  if (firstInstant === null || lastInstant === undefined) return {};
  return { data_start: isoTime(firstInstant), data_end: isoTime(lastInstant) };
}
