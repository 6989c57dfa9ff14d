import { z } from 'zod';
import { BEAT_SOURCES } from '../../beat.js';
import { isoTime } from '../../instant.js';
import type { Diagnostics, Session } from '../../store/store.js';
import { cursor, instant, isDataInterval, limit, NO_DATA_INTERVAL, ofDevice, oneOf } from '../fields.js';

const STATUS = ['open', 'closed'] as const;

export const sessionQuery = z
  .object({
    limit: limit(50, 200).meta({ description: 'Maximum number of sessions in the answer.' }),
    status: oneOf(STATUS).optional().meta({ description: 'Only sessions of this status.' }),
    device_id: ofDevice('Sessions'),
    data_since: instant().optional().meta({ description: 'Only sessions with data at or after this instant.' }),
    data_until: instant().optional().meta({ description: 'Only sessions with data before this instant.' }),
    cursor,
  })
  .refine(isDataInterval, NO_DATA_INTERVAL);

const notice = z.object({
  code: z.string().meta({ description: 'Code of the notice, such as `rate_off`.' }),
  channel: z
    .int()
    .optional()
    .meta({ description: 'Index of the channel. Absent if the notice concerns the whole session.' }),
  insight: z.string().optional().meta({ description: 'For no_reading: the type of insight.' }),
  reason: z.string().optional().meta({ description: 'For no_reading: the code of the reason.' }),
  first_at: z.iso.datetime().meta({ description: 'When it was first sent.' }),
  last_at: z.iso.datetime().meta({ description: 'When it was last sent.' }),
  count: z.int().meta({ description: 'Number of times that it was sent.' }),
  detail: z.string().meta({ description: 'Text of the last notice: the problem, and how to correct it.' }),
  over: z.boolean().meta({ description: 'Whether the problem has ended.' }),
});

const refusedFrames = z.object({
  code: z.string().meta({ description: 'Code of the error.' }),
  count: z.int().meta({ description: 'Number of the frames.' }),
  detail: z.string().meta({ description: 'Text of the last error.' }),
});

const rates = z.object({
  index: z.int().meta({ description: 'Index of the channel.' }),
  declared_hz: z.number().meta({ description: 'Rate of the device model, Hz.' }),
  measured_hz: z.number().nullable().meta({ description: 'Rate of the data, Hz; null until it is known to 1 %.' }),
});

const noReading = z.object({
  insight: z.string().meta({ description: 'The type of insight.' }),
  reason: z.string().meta({ description: 'Code of the reason.' }),
});

const diagnostics = z
  .object({
    notices: z.array(notice).meta({ description: 'Notices that were sent to the device.' }),
    refused: z.array(refusedFrames).meta({ description: 'Refused frames, by the code of the error.' }),
    channels: z.array(rates).meta({ description: 'Rates by channel.' }),
    no_reading: z.array(noReading).meta({ description: 'The types without a trusted reading.' }),
  })
  .meta({ description: 'The problems found in the data, up to 5 s old while the session is open. Absent in lists.' });

export const session = z
  .object({
    id: z.uuid().meta({ description: 'Id of the session.' }),
    device_id: z.string().meta({ description: 'The identifier under which the device streams.' }),
    device_model_id: z.uuid().meta({ description: 'The device model under which it streamed.' }),
    status: z.enum(STATUS).meta({ description: '`open` while the device can still continue it, then `closed`.' }),
    started_at: z.iso.datetime().meta({ description: "When the device first connected, by the service's clock." }),
    ended_at: z.iso
      .datetime()
      .optional()
      .meta({ description: 'When its last data arrived. Absent while the session is open.' }),
    data_start: z.iso
      .datetime()
      .optional()
      .meta({ description: "Time of the first sample, by the device's clock. Absent while there are no data." }),
    data_end: z.iso.datetime().optional().meta({
      description: "Time of the newest sample, by the device's clock, up to 5 s old. Absent while there are no data.",
    }),
    diagnostics: diagnostics.optional(),
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

export const beat = z
  .object({
    t: z.number().meta({
      description:
        'Time of the beat by the data, milliseconds since the epoch: the R peak of the ECG, or the upstroke of the pulse in the light, which comes some 0.2 s later.',
    }),
    source: z.enum(BEAT_SOURCES).meta({ description: 'What it was seen in.' }),
    quality: z.number().min(0).max(1).meta({ description: 'How surely it is a beat, and at this time, 0 to 1.' }),
  })
  .meta({
    description: 'A heartbeat.',
    examples: [{ t: 1_763_600_008_120.3, source: 'ecg', quality: 0.987 }],
  });

/** One of the statistics of trusted readings. */
const statistic = (what: string) =>
  z
    .number()
    .nullable()
    .meta({ description: `${what} of the readings that are not \`unfit\`; null if there are none.` });
const DATA_TIME = z.number().meta({ description: 'Data time with readings of this class, s.' });

export const summary = z
  .object({
    type: z.string().meta({ description: 'Type of the insights.' }),
    unit: z.string().meta({ description: 'Unit of mean, minimum and maximum.' }),
    mean: statistic('Mean'),
    minimum: statistic('Smallest'),
    maximum: statistic('Largest'),
    excellent_s: DATA_TIME,
    acceptable_s: DATA_TIME,
    unfit_s: DATA_TIME,
  })
  .meta({ description: 'Summary of the insights of one type.' });

/** Statistics of a session's readings of one type; the mean is rounded to 0.01. */
export type SummaryRow = Readonly<z.output<typeof summary>>;

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

/** The diagnostics of a session in an answer. */
export function diagnosticsAnswer({ notices, refused, channels }: Diagnostics): z.input<typeof diagnostics> {
  return {
    notices: notices.map(({ channel, firstAt, lastAt, isOver, ...kept }) => ({
      ...{ ...kept, ...(channel !== null && { channel }), over: isOver },
      ...{ first_at: isoTime(firstAt), last_at: isoTime(lastAt) },
    })),
    refused: [...refused],
    channels: channels.map(({ index, declaredHz, measuredHz }) => ({
      ...{ index, declared_hz: declaredHz, measured_hz: measuredHz },
    })),
    no_reading: notices.flatMap(({ isOver, insight, reason }) =>
      isOver || !insight || !reason ? [] : [{ insight, reason }],
    ),
  };
}

/** First and last instant of the session's data; none before the first data. */
function dataSpan({ progress: { firstInstant, lastInstant } }: Session) {
  if (firstInstant === null || lastInstant === undefined) return {};
  return { data_start: isoTime(firstInstant), data_end: isoTime(lastInstant) };
}
