/**
 * docs/scenario-language.md names every key, field and function of the language, and its scenarios compile.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';

import { functionsOf, PHASE_VARIABLES, RECORD_TYPES } from '../../dsl/expression/context-types.ts';
import { scenarioJsonSchema } from '../../dsl/scenario/scenario-json-schema.ts';
import { compileText } from './scenario-world.ts';

const page = readFileSync(path.join(import.meta.dirname, '../../docs/scenario-language.md'), 'utf8');

function keysIn(schema: unknown): string[] {
  if (Array.isArray(schema)) return schema.flatMap(keysIn);
  if (typeof schema !== 'object' || schema === null) return [];
  const properties = (schema as { properties?: object }).properties;
  return [...Object.keys(properties ?? {}), ...Object.values(schema).flatMap(keysIn)];
}

const names = [
  ...keysIn(scenarioJsonSchema()),
  ...RECORD_TYPES.flatMap(({ fields }) => Object.keys(fields)),
  ...Object.values(PHASE_VARIABLES).flatMap((variables) => Object.keys(variables)),
  ...functionsOf('observation'),
];

describe('docs/scenario-language.md', () => {
  it.each([...new Set(names)].filter((name) => name !== 'properties'))('explains %s', (name) => {
    expect(page).toMatch(new RegExp(`[\`{ ]${name}[\`:(]`));
  });

  it.each([...page.matchAll(/```yaml\n([^]*?)```/g)].map((match) => match[1] ?? ''))(
    'shows scenarios that compile',
    (text) => {
      const { scenario, diagnostics } = compileText(text);
      expect(diagnostics).toEqual([]);
      expect(scenario).not.toBeNull();
    },
  );
});
