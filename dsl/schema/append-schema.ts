/**
 * `append`: what a job adds to lists of the file that it extends.
 * Owns which lists those are; they are put together in ../append-lists.ts, and held to the schema of the job then.
 */
import { z } from 'zod';

import { SHORTHANDS } from './shorthand.ts';

/** An editor completes entries as those of the list itself. */
function entriesOf(place: string, description: string) {
  return z
    .array(z.unknown())
    .min(1)
    .meta({ description })
    .register(SHORTHANDS, {
      normalise: (tree) => tree,
      jsonSchema: () => ({
        description,
        type: 'array',
        items: { $ref: `#/properties/${place}/items` },
        minItems: 1,
      }),
    });
}

export const appendSchema = z
  .strictObject({
    defaults: z
      .strictObject({
        secrets: z
          .array(z.unknown())
          .min(1)
          .meta({
            description: 'Names of secrets that every conversation has beside those of the other file.',
          })
          .register(SHORTHANDS, {
            normalise: (tree) => tree,
            jsonSchema: ({ description }) => ({
              description,
              type: 'array',
              items: { type: 'string' },
              minItems: 1,
            }),
          })
          .optional(),
        plugins: entriesOf(
          'defaults/properties/plugins',
          'Plugins behind those of the other file.',
        ).optional(),
      })
      .meta({ description: 'Lists of "defaults".' })
      .optional(),
    conversations: entriesOf('conversations', 'Conversations behind those of the other file.').optional(),
    retry: entriesOf('retry', 'Rules behind those of the other file.').optional(),
    collect: entriesOf('collect', 'What is kept beside what the other file keeps.').optional(),
    report: entriesOf('report', 'Reports beside those of the other file.').optional(),
    finally: entriesOf('finally', 'Steps behind those of the other file.').optional(),
  })
  .meta({ description: 'What is added to lists of the file that "extends" names.' });
