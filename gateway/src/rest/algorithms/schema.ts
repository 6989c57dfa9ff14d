import { z } from 'zod';

export const algorithm = z
  .object({
    id: z.uuid().meta({ description: 'Id of the algorithm.' }),
    name: z.string().meta({ description: 'Name for people.' }),
    slug: z.string().meta({ description: 'Short name, as in the `algorithm` of an insight.' }),
    description: z.string().meta({ description: 'The vital sign and the method, as text for people.' }),
  })
  .meta({
    description: 'An algorithm that the account is entitled to.',
    examples: [
      {
        id: '3f1f7a0e-52f0-5c64-8f0f-0f7e4f6f2a10',
        name: 'Heart rate from PPG',
        slug: 'hr-ppg',
        description: 'Heart rate from one or more photoplethysmograms, with motion from an accelerometer.',
      },
    ],
  });
