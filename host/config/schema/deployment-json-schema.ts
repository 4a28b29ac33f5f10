/**
 * The JSON Schema (draft-07) of `parley.yaml` that editors use for completion and hovers.
 * Owns what is added to the schema that checks the file: defaults, examples, and what a hover says.
 */
import { z } from 'zod';
import { DURATION_PATTERN } from '../../../dsl/duration.ts';
import { withoutRuleNumbers } from '../../../dsl/reference/editor-schema.ts';
import { deploymentSchema } from './deployment-schema.ts';
import { KEY_EXAMPLES } from './key-examples.ts';
import { PROXY_CONFIG_SCHEMA } from '../blocks/proxy-keys.ts';
import { IN_SECONDS } from './seconds.ts';
import { SETTINGS, type Setting } from '../settings.ts';

/** A length of time as a job writes it. */
const DURATION = { type: 'string', pattern: DURATION_PATTERN.source };

type Json = Readonly<Record<string, unknown>>;

export function deploymentJsonSchema(): Json {
  return completed(z.toJSONSchema(deploymentSchema, { target: 'draft-7', io: 'input' }), []);
}

function completed(part: Json, at: readonly string[]): Json {
  if (at.join('.') === 'proxy_config') return PROXY_CONFIG_SCHEMA;
  const { properties, additionalProperties, description, ...rest } = part as {
    readonly properties?: Readonly<Record<string, Json>>;
    readonly additionalProperties?: unknown;
    readonly description?: string;
  };
  const setting = SETTINGS.find(({ path }) => path === at.join('.')) as Setting | undefined;
  return {
    ...(description === undefined ? {} : { description: hoverText(description, setting) }),
    ...(IN_SECONDS.has(at.join('.')) ? { anyOf: [rest, DURATION] } : rest),
    ...valuesOf(at.join('.'), setting),
    ...(properties === undefined ? {} : { properties: below(properties, at) }),
    ...(additionalProperties === undefined
      ? {}
      : {
          additionalProperties: isSchema(additionalProperties)
            ? completed(additionalProperties, [...at, '*'])
            : additionalProperties,
        }),
  };
}

function below(properties: Readonly<Record<string, Json>>, at: readonly string[]): Json {
  return Object.fromEntries(
    Object.entries(properties).map(([key, value]) => [key, completed(value, [...at, key])]),
  );
}

/** What it is, and what else can set it. */
function hoverText(description: string, setting: Setting | undefined): string {
  const plain = withoutRuleNumbers(description);
  return setting === undefined ? plain : `${plain} The variable ${setting.env} wins over it.`;
}

function valuesOf(path: string, setting: Setting | undefined): Json {
  // An empty default stands for none.
  const standard = setting === undefined || setting.fallback === '' ? undefined : setting.fallback;
  const example = KEY_EXAMPLES[path] ?? standard;
  return {
    ...(standard === undefined ? {} : { default: standard }),
    ...(example === undefined ? {} : { examples: [example] }),
  };
}

function isSchema(value: unknown): value is Json {
  return typeof value === 'object' && value !== null;
}
