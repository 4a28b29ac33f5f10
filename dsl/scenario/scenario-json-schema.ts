/**
 * The JSON Schema of scenario files, generated from the schema the compiler uses.
 * Owns nothing but the choice; schema/scenario.v1.json is its output, and a test compares the two.
 */
import { jsonSchemaOf } from '../schema/json-schema.ts';
import type { JsonSchema } from '../schema/shorthand.ts';
import { scenarioSchema } from './scenario-schema.ts';

export function scenarioJsonSchema(): JsonSchema {
  return jsonSchemaOf(scenarioSchema);
}
