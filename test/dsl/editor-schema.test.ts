/** The published schema of a job: every hover, default and example, and that a default is what a run takes. */
import { Ajv } from 'ajv';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { compileJob } from '../../dsl/compile-job.ts';
import { builtInDefaults } from '../../dsl/reference/defaults.ts';
import { editorSchema } from '../../dsl/reference/editor-schema.ts';
import { testWorld } from './test-world.ts';

type Json = Readonly<Record<string, unknown>>;
interface Key {
  readonly path: string;
  readonly schema: Json;
}

const object = (value: unknown): Json => (typeof value === 'object' && value !== null ? (value as Json) : {});
const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

function keysOf(schema: Json, at = ''): readonly Key[] {
  const below = Object.entries(object(schema['properties'])).flatMap(([key, value]) => {
    const path = at === '' ? key : `${at}.${key}`;
    return [{ path, schema: object(value) }, ...keysOf(object(value), path)];
  });
  const forms = [...list(schema['anyOf']), ...list(schema['oneOf'])].map(
    (form) => [object(form), at] as const,
  );
  const inner = [
    ...forms,
    [object(schema['items']), `${at}[]`] as const,
    [object(schema['additionalProperties']), `${at}.NAME`] as const,
  ];
  const filled = inner.filter(([part]) => Object.keys(part).length > 0);
  return [...below, ...filled.flatMap(([part, path]) => keysOf(part, path))];
}

/** Descriptions at any depth, of forms and lists too. */
function hoversIn(part: unknown): string[] {
  if (typeof part !== 'object' || part === null) return [];
  const own = (part as Json)['description'];
  return [...(typeof own === 'string' ? [own] : []), ...Object.values(part).flatMap(hoversIn)];
}

const SCHEMA = editorSchema();
const KEYS = keysOf(SCHEMA);
const ajv = new Ajv({ strict: false });
ajv.addSchema(SCHEMA, 'job');

/** A part of it may refer to another one. */
const inWhole = (schema: Json): Json =>
  JSON.parse(JSON.stringify(schema).replaceAll('"$ref":"#', '"$ref":"job#')) as Json;

describe('the published schema of a job', () => {
  it('says at most two sentences of a key, and no number of a rule', () => {
    const hovers = hoversIn(SCHEMA);
    expect(hovers.length).toBeGreaterThan(100);
    expect(hovers.filter((text) => /\b[DR]\d+\b/.test(text))).toEqual([]);
    expect(hovers.filter((text) => text.split(/[.;] (?=[A-Z])/).length > 2)).toEqual([]);
  });

  it('has an example of every key that takes a value, and each example and default is one that it allows', () => {
    const single = KEYS.filter(({ schema }) => keysOf(schema).length === 0);
    const bare = single.filter(({ schema }) => schema['examples'] === undefined);
    expect(bare.map(({ path }) => path)).toEqual([]);
    const wrong = KEYS.flatMap(({ path, schema }) => {
      const values = [...list(schema['examples']), ...('default' in schema ? [schema['default']] : [])];
      return values
        .filter((value) => !ajv.validate(inWhole(schema), value))
        .map((value) => ({ path, value }));
    });
    expect(wrong).toEqual([]);
  });

  it('has the default of every key that the compiler has one for', () => {
    const decided = [...builtInDefaults()].filter(([, text]) => text.startsWith('`'));
    const paths = decided.map(([path]) => path).filter((path) => path !== 'conversations[].key');
    expect(paths.length).toBeGreaterThan(20);
    const without = paths.filter((path) =>
      KEYS.every((key) => key.path !== path || !('default' in key.schema)),
    );
    expect(without).toEqual([]);
  });

  it('has defaults that change nothing when a job writes them', () => {
    const least = {
      kind: 'job',
      version: 1,
      name: 'least',
      budget: { usd: '1' },
      reconcile: { rows: 'gateway' },
      placement: { pool: { size: 1 } },
      conversations: [{ id: 'a', prompt: 'Do it.', model: 'm', verify: { command: 'true' } }],
    };
    const full = structuredClone(least) as Record<string, unknown>;
    const defaults = KEYS.filter(({ path, schema }) => 'default' in schema && !path.startsWith('defaults.'));
    for (const { path, schema } of defaults) write(full, path, schema['default']);
    expect(hashOf(full)).toBe(hashOf(least));
  });
});

function write(target: Record<string, unknown>, path: string, value: unknown): void {
  const [first = '', ...rest] = path.replace('[]', '.0').split('.');
  if (rest.length === 0) target[first] = value;
  else write((target[first] ??= {}) as Record<string, unknown>, rest.join('.'), value);
}

function hashOf(job: unknown): string {
  const { plan, diagnostics } = compileJob({ path: 'least.yaml', text: stringify(job) }, testWorld);
  expect(diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
  return plan?.hash ?? 'no plan';
}
