/**
 * The keys of `parley.yaml` as paths, taken from its schema.
 * Owns the walk over the schema; must not hold a value.
 */
import { z } from 'zod';
import { deploymentSchema } from './deployment-schema.ts';

/** Keys of the map at `at`; none where keys are names of the user. */
export function keysAt(at: readonly (string | number)[]): readonly string[] {
  const schema = bare(schemaAt(at));
  return schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
}

/** The schema of one key; null when there is no such key. */
export function schemaAt(at: readonly (string | number)[]): z.core.$ZodType | null {
  let schema: z.core.$ZodType | null = deploymentSchema;
  for (const step of at) {
    const here: z.core.$ZodType | null = bare(schema);
    if (here instanceof z.ZodRecord) schema = here.valueType;
    else if (here instanceof z.ZodObject) schema = (here.shape as z.core.$ZodShape)[String(step)] ?? null;
    else return null;
  }
  return schema;
}

/** Dotted paths of all keys, `*` for a name of the user. */
export function allKeyPaths(
  schema: z.core.$ZodType = deploymentSchema,
  prefix: readonly string[] = [],
): string[] {
  const here = bare(schema);
  if (here instanceof z.ZodRecord) return allKeyPaths(here.valueType, [...prefix, '*']);
  if (!(here instanceof z.ZodObject)) return [];
  return Object.entries(here.shape as z.core.$ZodShape).flatMap(([key, field]) => {
    const path = [...prefix, key];
    return [path.join('.'), ...allKeyPaths(field, path)];
  });
}

/** The schema without "optional" around it. */
export function bare(schema: z.core.$ZodType | null): z.core.$ZodType | null {
  return schema instanceof z.ZodOptional ? bare(schema.unwrap()) : schema;
}
