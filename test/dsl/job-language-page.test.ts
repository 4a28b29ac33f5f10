/**
 * docs/job-language.md names every key of the language, and its jobs compile.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';

import { compileJob } from '../../dsl/compile-job.ts';
import { jobSchema } from '../../dsl/schema/json-schema.ts';
import { testWorld } from './test-world.ts';

const page = readFileSync(path.join(import.meta.dirname, '../../docs/job-language.md'), 'utf8');

function keysIn(schema: unknown): string[] {
  if (Array.isArray(schema)) return schema.flatMap(keysIn);
  if (typeof schema !== 'object' || schema === null) return [];
  const properties = (schema as { properties?: object }).properties;
  return [...Object.keys(properties ?? {}), ...Object.values(schema).flatMap(keysIn)];
}

const internal = new Set(['properties']);

describe('docs/job-language.md', () => {
  it.each([...new Set(keysIn(jobSchema()))].filter((key) => !internal.has(key)))('explains %s', (key) => {
    expect(page).toMatch(new RegExp(`[\`{ ]${key}[\`:]`));
  });

  it.each([...page.matchAll(/```yaml\n([^]*?)```/g)].map((match) => match[1] ?? ''))(
    'shows jobs that compile',
    (text) => {
      expect(compileJob({ path: 'job.yaml', text }, testWorld).diagnostics).toEqual([]);
    },
  );
});
