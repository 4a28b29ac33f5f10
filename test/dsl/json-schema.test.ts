/**
 * The JSON Schema for editors: generated, closed, and of one mind with the compiler.
 * `UPDATE_GOLDEN=1 npx vitest run test/dsl` writes schema/job.v1.json anew.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Ajv } from 'ajv';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';

import { compileJob } from '../../dsl/compile-job.ts';
import { editorSchema } from '../../dsl/reference/editor-schema.ts';
import { expectClosed } from './schema-objects.ts';
import { GOLDEN_FOLDER, testWorld } from './test-world.ts';

const FILE = path.join(import.meta.dirname, '../../schema/job.v1.json');
/** Findings of the schema that need more than a schema can say: what a scalar looked like, what a file declares. */
const BEYOND_SCHEMA = new Set(['JOB209', 'JOB215', 'JOB218', 'JOB219']);

/** A value of the right form that comes from an input of another type. */
const BEYOND_FILES = new Set(['input-wrong-type-whole.yaml']);

const schema = editorSchema();
const validate = new Ajv({ allErrors: true, strictTypes: false }).compile(schema);

function filesIn(folder: string): string[] {
  return readdirSync(path.join(GOLDEN_FOLDER, folder)).filter((file) => file.endsWith('.yaml'));
}

function read(folder: string, file: string): string {
  return readFileSync(path.join(GOLDEN_FOLDER, folder, file), 'utf8');
}

describe('schema/job.v1.json', () => {
  it('is what the schema of the compiler generates', () => {
    const text = `${JSON.stringify(schema, null, 2)}\n`;
    if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(FILE, text);
    expect(readFileSync(FILE, 'utf8')).toBe(text);
  });

  it('closes every object', () => {
    expectClosed(schema, 15);
  });

  it.each(filesIn('ok'))('accepts ok/%s', (file) => {
    validate(parse(read('ok', file)));
    expect(validate.errors).toBeNull();
  });

  const schemaLevel = filesIn('err').filter((file) => {
    const { diagnostics } = compileJob(
      { path: file, text: readFileSync(path.join(GOLDEN_FOLDER, 'err', file)) },
      testWorld,
    );
    return diagnostics.some(
      (found) =>
        found.code.startsWith('JOB2') &&
        !BEYOND_SCHEMA.has(found.code) &&
        found.file === file &&
        !BEYOND_FILES.has(file) &&
        !/^no (?:model|key)/.test(found.message),
    );
  });

  it.each(schemaLevel)('refuses err/%s', (file) => {
    expect(validate(parse(read('err', file)))).toBe(false);
  });

  it('covers many of the broken jobs', () => {
    expect(schemaLevel.length).toBeGreaterThan(45);
  });
});
