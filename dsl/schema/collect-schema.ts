/**
 * `collect`: what is kept of a conversation, of the whole job or of one entry.
 * Owns the shapes of its steps; what each keeps is decided where it is carried out.
 */
import { z } from 'zod';

import { listOf } from './amounts.ts';
import { SHORTHANDS, wordOrMap } from './shorthand.ts';
import * as rules from './text-rule.ts';

const LIST_MAX = 100;

const globs = z.array(rules.text(rules.GLOB)).min(1).max(LIST_MAX);
const globsJson = {
  type: 'array',
  description: 'Patterns relative to the workspace.',
  items: { type: 'string', pattern: rules.GLOB.pattern.source },
  minItems: 1,
  maxItems: LIST_MAX,
};

const collectStep = z
  .discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('trajectory') }),
    z.strictObject({ kind: z.literal('diff') }),
    z.strictObject({ kind: z.literal('usage') }),
    z.strictObject({ kind: z.literal('files'), globs }),
  ])
  .register(
    SHORTHANDS,
    wordOrMap({
      discriminator: 'kind',
      words: ['trajectory', 'diff', 'usage'],
      keyed: { key: 'files', field: 'globs', schema: globsJson },
    }),
  );

export const collectSchema = listOf(collectStep, LIST_MAX, 'What is kept, before anything is cleaned up.');
