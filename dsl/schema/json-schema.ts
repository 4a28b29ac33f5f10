/**
 * The JSON Schema (draft-07) that editors use for completion: generated from the schema the compiler uses.
 * Owns the generation; schema/job.v1.json is its output, and a test compares the two.
 */
import { z } from 'zod';

import { jobSchema as job } from './job-schema.ts';
import { SHORTHANDS, type JsonSchema } from './shorthand.ts';

export function jobSchema(): JsonSchema {
  return jsonSchemaOf(job);
}

/** Both spellings of every shorthand, every object closed. Draft-07 is what YAML editors read reliably. */
export function jsonSchemaOf(schema: z.ZodType): JsonSchema {
  return z.toJSONSchema(schema, {
    target: 'draft-7',
    io: 'input',
    override({ zodSchema, jsonSchema }) {
      const shorthand = SHORTHANDS.get(zodSchema as z.core.$ZodType as z.ZodType);
      if (shorthand === undefined) return;
      const both = shorthand.jsonSchema({ ...jsonSchema });
      for (const key of Object.keys(jsonSchema)) delete (jsonSchema as JsonSchema)[key];
      Object.assign(jsonSchema, both);
    },
  });
}
