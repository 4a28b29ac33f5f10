/**
 * The JSON Schema (draft-07) that editors use for completion: generated from the schema the compiler uses.
 * Owns the generation; schema/job.v1.json is its output, and a test compares the two.
 */
import { z } from 'zod';

import { jobSchema as job } from './job-schema.ts';
import { anyOf, SHORTHANDS, type JsonSchema } from './shorthand.ts';

export function jobSchema(): JsonSchema {
  const { required, ...schema } = jsonSchemaOf(job);
  const properties = withInputs(schema['properties'] as Record<string, JsonSchema>);
  // What a job builds on may have what is required.
  return { ...schema, properties, anyOf: [{ required }, { required: ['extends'] }] };
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

/** Keys below which an input stands for nothing (../inputs/fill-inputs.ts). */
const FIXED_KEYS: ReadonlySet<string> = new Set(['kind', 'version', 'name', 'extends', 'inputs', 'secrets']);
const WHOLE_INPUT = '^\\$\\{\\{ *inputs\\.[A-Za-z_][A-Za-z0-9_]* *\\}\\}$';

function withInputs(properties: Readonly<Record<string, JsonSchema>>): Record<string, JsonSchema> {
  return Object.fromEntries(
    Object.entries(properties).map(([key, value]) => [key, FIXED_KEYS.has(key) ? value : orInput(value)]),
  );
}

/** Wherever a scalar may stand, an input may stand for it. */
function orInput(schema: JsonSchema): JsonSchema {
  const { type, pattern } = schema;
  const isChoice = schema['enum'] !== undefined;
  if (type === 'integer' || type === 'number' || type === 'boolean' || isChoice) return eitherInput(schema);
  if (type === 'string')
    return typeof pattern === 'string' ? { ...schema, pattern: `${pattern}|${WHOLE_INPUT}` } : schema;
  return Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, orInputBelow(key, value)]));
}

function eitherInput(schema: JsonSchema): JsonSchema {
  const { description, ...own } = schema;
  return anyOf({ description }, [own, { type: 'string', pattern: WHOLE_INPUT }]);
}

/** Names of keys stay as they are. */
function orInputBelow(key: string, value: unknown): unknown {
  switch (key) {
    case 'properties':
      return mapValues(value as Record<string, JsonSchema>);
    case 'items':
    case 'additionalProperties':
      return typeof value === 'object' && value !== null ? orInput(value as JsonSchema) : value;
    case 'anyOf':
    case 'oneOf':
      return (value as JsonSchema[]).map(orInput);
    default:
      return value;
  }
}

function mapValues(schemas: Readonly<Record<string, JsonSchema>>): Record<string, JsonSchema> {
  return Object.fromEntries(Object.entries(schemas).map(([key, value]) => [key, orInput(value)]));
}
