/**
 * docs/reference.md: every key of both languages is on it, says what it does, and has the default that the compiler has.
 * That the file is the one that is generated is checked with the other generated files.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';

import { builtInDefaults } from '../../dsl/reference/defaults.ts';
import { referencePage } from '../../dsl/reference/reference-page.ts';
import { rowsBelow } from '../../dsl/reference/schema-rows.ts';
import { jobSchema } from '../../dsl/schema/json-schema.ts';
import { scenarioJsonSchema } from '../../dsl/scenario/scenario-json-schema.ts';
import type { JsonSchema } from '../../dsl/schema/shorthand.ts';
import { exampleOf } from '../../scripts/generated.ts';
import { validFiles } from './mutants.ts';

const page = readFileSync(path.join(import.meta.dirname, '../../docs/reference.md'), 'utf8');
const [job = '', scenario = ''] = page.split('\n## Scenario\n');
const SCHEMAS: readonly (readonly [string, JsonSchema, string, string])[] = [
  ['job', jobSchema(), job, '### `'],
  ['scenario', scenarioJsonSchema(), scenario, '### Scenario: `'],
];

describe('the reference', () => {
  it('is what is generated', () => {
    expect(page).toBe(referencePage(exampleOf));
  });

  it.each(SCHEMAS)('has every key of a %s', (_kind, schema, text, heading) => {
    const properties = (schema['properties'] ?? {}) as Readonly<Record<string, JsonSchema>>;
    const keys = Object.keys(properties);
    expect(keys.length).toBeGreaterThan(10);
    for (const key of keys) expect(text).toContain(`${heading}${key}\`\n`);
    for (const [key, part] of Object.entries(properties))
      for (const { path: row } of rowsBelow(part, part['type'] === 'array' ? `${key}[]` : key))
        expect(text).toContain(`| \`${row}\` |`);
  });

  it.each(SCHEMAS)('says what every key of a %s does', (_kind, schema) => {
    const rows = rowsBelow(schema, '').filter(({ path: row }) => !row.endsWith('NAME'));
    expect(rows.length).toBeGreaterThan(60);
    expect(rows.filter(({ about, type }) => about === '' || type === '')).toEqual([]);
  });

  it.each([
    ['wait.deadline', '`11h30m`'],
    ['wait.no_progress', '`30m`'],
    ['admission.concurrency', '`10`'],
    ['cleanup.sandbox', '`delete`'],
    ['conversations[].verify.timeout', '`10m`'],
    ['reconcile.window.before', '`30s`'],
    ['conversations[].limits.usd', 'none'],
    ['placement.strategy', "the deployment's"],
  ])('knows the default of %s', (key, standard) => {
    expect(builtInDefaults().get(key)).toBe(standard);
    expect(job).toMatch(
      new RegExp(
        `\\| \`${key.replaceAll(/[.[\]]/g, String.raw`\$&`)}(?:\\[\\])?\` \\|[^|]*\\| ${standard.replace('$', '')} \\|`,
      ),
    );
  });

  it('cuts its examples out of valid files, for most keys', () => {
    const texts = validFiles().map(({ text }) => text.replaceAll(/^#.*\n/gm, ''));
    const examples = [...page.matchAll(/```yaml\n([^]*?)\n```/g)].map((match) => match[1] ?? '');
    expect(examples.length).toBeGreaterThan(30);
    for (const example of examples) expect(texts.some((text) => text.includes(example))).toBe(true);
  });
});
