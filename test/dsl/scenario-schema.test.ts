/**
 * The JSON Schema of scenarios for editors: generated, closed, and of one mind with the compiler.
 * `UPDATE_GOLDEN=1 npx vitest run test/dsl` writes schema/scenario.v1.json anew.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Ajv } from 'ajv';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';

import { RULE_CATALOGUE } from '../../dsl/check/rule-catalogue.ts';
import { scenarioJsonSchema } from '../../dsl/scenario/scenario-json-schema.ts';
import { compileText, scenarioFiles, scenarioText } from './scenario-world.ts';
import { expectClosed, objectsIn } from './schema-objects.ts';

const FILE = path.join(import.meta.dirname, '../../schema/scenario.v1.json');
/** Schema findings that a schema cannot say: pairs of keys, the order of bounds, days of a month, names of the job. */
const BEYOND_SCHEMA = new Set(['JOB213', 'JOB215', 'SCN203', 'SCN207', 'SCN208', 'SCN209']);
/** Files whose only schema finding depends on values or on the job. */
const BEYOND_SCHEMA_FILES = new Set(['clock-no-such-day', 'overrides-budget', 'expect-at-alone']);

const schema = scenarioJsonSchema();
const validate = new Ajv({ allErrors: true, strictTypes: false, strictRequired: false }).compile(schema);

describe('schema/scenario.v1.json', () => {
  it('is what the schema of the compiler generates', () => {
    const text = `${JSON.stringify(schema, null, 2)}\n`;
    if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(FILE, text);
    expect(readFileSync(FILE, 'utf8')).toBe(text);
  });

  it('closes every object', () => {
    expectClosed(schema, 30);
  });

  it('has no key for the length of a session (D10)', () => {
    const keys = objectsIn(schema).flatMap((part) => Object.keys((part['properties'] as object) ?? {}));
    expect(keys).toContain('idle_time');
    expect(keys.filter((key) => key.includes('session') && key !== 'on_session_limit')).toEqual([]);
  });

  it.each(scenarioFiles('ok'))('accepts ok/%s', (file) => {
    validate(parse(scenarioText('ok', file)));
    expect(validate.errors).toBeNull();
  });

  const schemaLevel = scenarioFiles('err').filter((file) =>
    compileText(scenarioText('err', file), file).diagnostics.some(
      ({ code, file: shown }) =>
        shown === file &&
        /^(?:JOB|SCN)2/.test(code) &&
        RULE_CATALOGUE[code].severity === 'error' &&
        !BEYOND_SCHEMA.has(code) &&
        !BEYOND_SCHEMA_FILES.has(file.replace('.yaml', '')),
    ),
  );

  it.each(schemaLevel)('refuses err/%s', (file) => {
    expect(validate(parse(scenarioText('err', file)))).toBe(false);
  });

  it('covers many of the broken scenarios', () => {
    expect(schemaLevel.length).toBeGreaterThan(30);
  });
});
