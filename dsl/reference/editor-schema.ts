/**
 * The JSON Schema of a job as it is published for editors: with the default and an example of each key.
 * Owns what is added to the schema that checks the file; must not change what that accepts.
 */
import { jobSchema } from '../schema/json-schema.ts';
import type { JsonSchema } from '../schema/shorthand.ts';
import { writtenDefaults } from './defaults.ts';
import { exampleOfKey } from './key-examples.ts';
import { isSchema } from './schema-rows.ts';

/** Numbers of rules are for who changes the code. */
const RULE_NUMBER = / \([DR]\d+\)/g;

/** A description without the numbers of rulings, which an editor has no page for. */
export function withoutRuleNumbers(description: string): string {
  return description.replaceAll(RULE_NUMBER, '');
}

/** The JSON Schema of job files, as editors complete by it. */
export function editorSchema(): JsonSchema {
  return completed(jobSchema(), '', writtenDefaults());
}

type Defaults = ReadonlyMap<string, unknown>;

/** `path` is dotted, with `[]` behind a list and `NAME` for a name that the user gives. */
function completed(part: JsonSchema, path: string, defaults: Defaults): JsonSchema {
  return Object.fromEntries(
    Object.entries(part).map(([key, value]) => [key, keywordOf(key, value, { path, defaults })]),
  );
}

function keywordOf(
  keyword: string,
  value: unknown,
  { path, defaults }: { readonly path: string; readonly defaults: Defaults },
): unknown {
  switch (keyword) {
    case 'description':
      return withoutRuleNumbers(String(value));
    case 'properties':
      return Object.fromEntries(
        Object.entries(value as Readonly<Record<string, JsonSchema>>).map(([key, schema]) => {
          const below = path === '' ? key : `${path}.${key}`;
          return [key, { ...completed(schema, below, defaults), ...valuesOf(below, schema, defaults) }];
        }),
      );
    case 'items':
      return isSchema(value) ? completed(value, `${path}[]`, defaults) : value;
    case 'additionalProperties':
      return isSchema(value) ? completed(value, `${path}.NAME`, defaults) : value;
    case 'anyOf':
    case 'oneOf':
      return (value as readonly JsonSchema[]).map((one) => completed(one, path, defaults));
    default:
      return value;
  }
}

function valuesOf(path: string, schema: JsonSchema, defaults: Defaults): JsonSchema {
  const standard = defaults.get(path) ?? defaults.get(path.replace(/^defaults\./, 'conversations[].'));
  const example = exampleOfKey(path, schema) ?? standard;
  return {
    ...(standard === undefined ? {} : { default: standard }),
    ...(example === undefined ? {} : { examples: [example] }),
  };
}
