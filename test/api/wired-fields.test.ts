/** Every field that is accepted is read somewhere, and every field that is shown says something. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { z } from 'zod';
import { startRequestSchema } from '../../agent/conversation/start-request.ts';
import { APPLICATION_ROUTES } from '../../api/application/routes.ts';
import type { Route } from '../../api/application/route.ts';
import { submittedPlanSchema } from '../../api/runs/submitted-plan.ts';
import { compileJob } from '../../dsl/compile-job.ts';
import { testWorld } from '../dsl/test-world.ts';
import { AGENT_FIELDS } from './agent-fields.ts';
import { API_FIELDS, CONSTANT_ANSWERS, type Reader } from './wired-fields.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');

interface JsonSchema {
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, JsonSchema>>;
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly allOf?: readonly JsonSchema[];
  readonly properties?: Readonly<Record<string, JsonSchema & { readonly const?: unknown }>>;
  readonly items?: JsonSchema;
}

/** Paths of all fields; one with a single possible value is left out. Named forms stand where they are named. */
function fieldsOf(schema: JsonSchema, root: JsonSchema, prefix = ''): string[] {
  const named = schema.$ref === undefined ? undefined : root.$defs?.[schema.$ref.replace('#/$defs/', '')];
  const parts = [schema.anyOf, schema.oneOf, schema.allOf, schema.items, named].flatMap((part) => part ?? []);
  const own = Object.entries(schema.properties ?? {}).flatMap(([name, field]) =>
    field.const === undefined ? [`${prefix}${name}`, ...fieldsOf(field, root, `${prefix}${name}.`)] : [],
  );
  return [...new Set([...own, ...parts.flatMap((part) => fieldsOf(part, root, prefix))])];
}

function pathsIn(schema: z.ZodType): string[] {
  const json = z.toJSONSchema(schema, {
    io: 'input',
    unrepresentable: 'any',
    reused: 'inline',
  }) as JsonSchema;
  return fieldsOf(json, json);
}

const contents = new Map<string, string>();
function isThere({ file, text }: Reader): boolean {
  const content = contents.get(file) ?? readFileSync(path.join(ROOT, file), 'utf8');
  contents.set(file, content);
  return content.includes(text);
}

/** What the table has and the schema has not, the other way round, and readers that are gone. */
function differences(fields: readonly string[], table: Readonly<Record<string, Reader>>): readonly string[] {
  const known = new Set(Object.keys(table));
  return [
    ...fields.filter((field) => !known.has(field)).map((field) => `${field} is read nowhere`),
    ...[...known].filter((field) => !fields.includes(field)).map((field) => `${field} is no field`),
    ...Object.entries(table).flatMap(([field, reader]) =>
      isThere(reader) ? [] : [`${field}: ${reader.file} has no "${reader.text}"`],
    ),
  ];
}

/** A plan goes to the engine as it came, and is compared with one of the compiler below. */
const WHOLE = 'submit_run body';

describe('a field that is accepted', () => {
  it('is read, in every route of the API', () => {
    const routes = APPLICATION_ROUTES as readonly Route[];
    const parts = routes.flatMap(({ operation, body, query }) => [
      ...(body === undefined ? [] : [[`${operation} body`, body] as const]),
      ...(query === undefined ? [] : [[`${operation} query`, query] as const]),
    ]);
    const found = parts
      .filter(([name]) => name !== WHOLE)
      .flatMap(([name, schema]) =>
        differences(pathsIn(schema), API_FIELDS[name] ?? {}).map((one) => `${name}: ${one}`),
      );
    expect(found).toEqual([]);
    const names = new Set<string>(parts.map(([name]) => name));
    expect(Object.keys(API_FIELDS).filter((name) => !names.has(name))).toEqual([]);
  });

  it('is read, in a start request of the Agent Server', () => {
    const fields = pathsIn(startRequestSchema).map((field) =>
      field.replace(/^hook_config\.\w+\.(?=.)/, 'hook_config.EVENT.'),
    );
    expect(differences([...new Set(fields)], AGENT_FIELDS)).toEqual([]);
  });

  it('is missing from no plan that is submitted: the compiler writes nothing that the API refuses', () => {
    const job = {
      ...{ kind: 'job', version: 1, name: 'all', secrets: { token: { from: 'env', name: 'TOKEN' } } },
      conversations: [
        {
          ...{ id: 'a', prompt: 'Go.', model: 'm', repeat: 2, tags: { a: 'b' }, secrets: { T: 'token' } },
          repo: {
            ...{
              name: 'acme/a',
              ref: 'v1',
              submodules: true,
              lfs: true,
              host: 'github',
              token: { secret: 'token' },
            },
            author: { name: 'A', email: 'a@example.org' },
          },
          setup: { command: 'make', timeout: '1m', cache: ['package-lock.json'] },
          ...{ verify: { command: 'make test' }, limits: { turns: 5, working: '1h' }, confirmation: 'risky' },
          ...{ priority: 3, plugins: [{ source: 'acme/p', ref: 'v2', path: 'x' }] },
        },
        { id: 'b', prompt: 'Go on.', model: 'm', needs: ['a'], repo: { name: 'acme/a', branch: 'main' } },
      ],
      ...{ deliver: { branch: 'x/{key}' }, collect: ['diff', { files: ['**'] }] },
    };
    const { plan, diagnostics } = compileJob({ path: 'job.yaml', text: stringify(job) }, testWorld);
    expect(diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
    const parsed = submittedPlanSchema.safeParse(JSON.parse(JSON.stringify(plan)));
    expect(parsed.error?.issues ?? []).toEqual([]);
    expect(parsed.data).toEqual(JSON.parse(JSON.stringify(plan)));
    expect(plan?.items[0]?.repository).toMatchObject({
      ref: 'v1',
      submodules: true,
      lfs: true,
      branch: null,
    });
  });
});

describe('a field that is shown', () => {
  it('is the same in every record of a conversation only where the table says why', () => {
    const text = readFileSync(path.join(ROOT, 'api/conversations/conversation-record.ts'), 'utf8');
    const record = text.slice(text.indexOf('function lastingOf('), text.indexOf('type Reach ='));
    const constant = [...record.matchAll(/^ {4}(\w+): (?:null|\[\]|'[^']*'),$/gm)].map(([, name]) => name);
    expect(constant.sort()).toEqual(Object.keys(CONSTANT_ANSWERS).sort());
  });
});
