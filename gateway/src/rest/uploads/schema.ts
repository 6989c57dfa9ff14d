import { DEVICE_ID } from '@device-insights/contract/parameters';
import { z } from 'zod';
import { MAX_LISTED, type UploadResult } from '../../upload.js';

/** The range of a Date (ECMA-262, 21.4.1.1), ms. */
const MAX_CLOCK = 8.64e15;

/** The query, for the document; the values are checked like those of a socket. */
export const uploadQuery = z.object({
  device_id: z.string().regex(DEVICE_ID).meta({ description: "The device's own identifier, as at the ingest socket." }),
  device_model_id: z.uuid().meta({ description: 'A device model of the account.' }),
  clock: z
    .number()
    .min(-MAX_CLOCK)
    .max(MAX_CLOCK)
    .optional()
    .meta({ description: "The device's own time now, if it may be wrong: ms since the epoch, without exponent." }),
});

const counts = (what: string) => z.record(z.string(), z.int()).meta({ description: what });

export const upload = z
  .object({
    session_id: z.uuid().meta({ description: 'The session of the upload, which is closed.' }),
    accepted: z.int().meta({ description: 'Number of accepted frames.' }),
    refused: counts('Number of refused frames, by the code of the error.'),
    errors: z
      .array(
        z.looseObject({
          frame: z.int().meta({ description: 'Position of the frame in the body, from 0.' }),
          code: z.string().meta({ description: 'Code of the error.' }),
          detail: z.string().meta({ description: 'The fault, and how to correct it.' }),
        }),
      )
      .meta({ description: `The first ${MAX_LISTED} refused frames.` }),
    notices: z.array(z.looseObject({ code: z.string(), detail: z.string() })).meta({
      description: `The first ${MAX_LISTED} notices, as the ingest socket sends them. The diagnostics of the session count all of them.`,
    }),
    next_seq: counts('By channel: all lower sequence numbers have been received, or given up as lost.'),
    insights: counts('Number of stored insights, by type.'),
    continues: z.array(z.uuid()).meta({
      description:
        'Sessions of earlier requests with this Idempotency-Key that broke off. Readings up to the last one of these are stored there, and not again.',
    }),
  })
  .meta({
    description: 'What became of the frames of an upload.',
    examples: [
      {
        session_id: '7b0f6a5e-3c52-4f0e-9d55-6d1f2f0f4a11',
        accepted: 599,
        refused: { too_late: 1 },
        errors: [{ frame: 17, code: 'too_late', detail: 'its numbers were given up', channel: 0, seq: 850 }],
        notices: [],
        next_seq: { 0: 30_000 },
        insights: { hr: 590, rr: 290 },
        continues: [],
      },
    ],
  });

/** The answer to an upload. */
export function uploadAnswer({ sessionId, refused, errors, notices, ...rest }: UploadResult): z.input<typeof upload> {
  const { accepted, nextSeq, insights, continues } = rest;
  return {
    ...{ session_id: sessionId, accepted, refused: Object.fromEntries(refused), errors: [...errors] },
    notices: notices.map((notice) => notice as z.input<typeof upload>['notices'][number]),
    ...{ next_seq: nextSeq, insights, continues: [...continues] },
  };
}
