/**
 * `append`: what a job adds to lists of the file that it extends.
 * Owns which lists those are; they are put together in ../append-lists.ts, and held to the schema of the job then.
 */
import { z } from 'zod';

import { SHORTHANDS, type JsonSchema } from './shorthand.ts';

/** `items` is how an editor completes an entry. */
function added(items: JsonSchema, description: string) {
  return z
    .array(z.unknown())
    .min(1)
    .meta({ description })
    .register(SHORTHANDS, {
      normalise: (tree) => tree,
      jsonSchema: () => ({ description, type: 'array', items, minItems: 1 }),
    })
    .optional();
}

/** As an entry of the list itself. */
const entriesOf = (place: string, description: string) =>
  added({ $ref: `#/properties/${place}/items` }, description);

export const appendSchema = z
  .strictObject({
    defaults: z
      .strictObject({
        secrets: added(
          { type: 'string' },
          'Names of secrets that every conversation has beside those of the other file.',
        ),
        plugins: entriesOf('defaults/properties/plugins', 'Plugins behind those of the other file.'),
      })
      .meta({ description: 'Lists of "defaults".' })
      .optional(),
    conversations: entriesOf('conversations', 'Conversations behind those of the other file.'),
    retry: entriesOf('retry', 'Rules behind those of the other file.'),
    collect: entriesOf('collect', 'What is kept beside what the other file keeps.'),
    report: entriesOf('report', 'Reports beside those of the other file.'),
    finally: entriesOf('finally', 'Steps behind those of the other file.'),
  })
  .meta({ description: 'What is added to lists of the file that "extends" names.' });
