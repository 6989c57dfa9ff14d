import { z } from 'zod';

export const health = z
  .object({
    ok: z.boolean().meta({ description: 'True when ingest and subscribe are healthy.' }),
    ingest: z.boolean().meta({ description: 'Whether devices can stream.' }),
    subscribe: z.boolean().meta({ description: 'Whether subscribers get live insights.' }),
    reason: z
      .string()
      .optional()
      .meta({ description: 'The parts that do not work; absent if all work. The causes are in the log.' }),
  })
  .meta({
    description: 'Health of the ingest and subscribe sockets.',
    examples: [{ ok: true, ingest: true, subscribe: true }],
  });
