/**
 * The OpenAPI document as generators of clients want it: a name for every form, lists of words, bytes that say so. The
 * names are kept, because users of generated clients have written them into programs.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { Components } from '../../api/application/components.ts';
import { openApiDocument } from '../../api/application/openapi.ts';
import { APPLICATION_ROUTES } from '../../api/application/routes.ts';
import { dialectOf } from '../../api/application/dialect.ts';

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- the document is read by its paths
type Json = Readonly<Record<string, any>>;

const GOLDEN = path.resolve(import.meta.dirname, '../golden/api/schema-names.txt');

function documentOf(dialect: 'spec' | 'openhands' = 'spec'): Json {
  const { executionStatuses } = dialectOf(dialect);
  return openApiDocument(APPLICATION_ROUTES, { version: '1', url: 'http://x', executionStatuses });
}

function operation(document: Json, id: string): Json {
  const all = Object.values(document['paths'] as Json).flatMap((one) => Object.values(one as Json)) as Json[];
  return all.find(({ operationId }) => operationId === id) ?? {};
}

/** Every object with fields, list of words or choice that has no name, by where it stands. */
function nameless(node: unknown, at: string): readonly string[] {
  if (typeof node !== 'object' || node === null) return [];
  const { properties, enum: words, anyOf, oneOf } = node as Json;
  const forms = ((anyOf ?? oneOf ?? []) as Json[]).filter(({ type }) => type !== 'null');
  const own = properties !== undefined || words !== undefined || forms.length > 1 ? [at] : [];
  return [...own, ...below(node as Json, at)];
}

function below(node: Json, at: string): readonly string[] {
  return Object.entries(node).flatMap(([key, value]) => {
    const isMap = key === 'properties';
    return isMap
      ? Object.entries(value as Json).flatMap(([name, one]) => nameless(one, `${at}.${name}`))
      : Array.isArray(value)
        ? value.flatMap((one) => nameless(one, `${at}/${key}`))
        : ['items', 'additionalProperties'].includes(key)
          ? nameless(value, `${at}/${key}`)
          : [];
  });
}

describe('the OpenAPI document for generators', () => {
  it('names every form, in operations and in what they name', () => {
    const document = documentOf();
    const { schemas } = document['components'] as Json;
    const inNames = Object.entries(schemas as Json).flatMap(([name, schema]) => below(schema as Json, name));
    const contents = APPLICATION_ROUTES.flatMap(({ operation: id }) => {
      const { requestBody, responses, parameters } = operation(document, id) as Json;
      const bodies = [requestBody, ...Object.values(responses as Json)].flatMap((one) =>
        Object.values(((one as Json | undefined)?.['content'] ?? {}) as Json),
      );
      return [...bodies, ...(parameters as Json[])].map((one) => [id, (one as Json)['schema']] as const);
    });
    for (const [id, schema] of contents) expect([id, schema]).toEqual([id, expect.any(Object)]);
    expect([...inNames, ...contents.flatMap(([id, schema]) => nameless(schema, id))]).toEqual([]);
  });

  it('keeps the names that it has given', () => {
    const { schemas } = documentOf()['components'] as Json;
    const names = `${Object.keys(schemas as Json).join('\n')}\n`;
    if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(GOLDEN, names);
    expect(names).toBe(readFileSync(GOLDEN, 'utf8'));
  });

  it('has records, pages and words under the names that people say', () => {
    const { schemas } = documentOf()['components'] as { schemas: Json };
    expect(schemas['ConversationPage'].properties.items.items).toEqual({
      $ref: '#/components/schemas/Conversation',
    });
    expect(schemas['Sandbox'].properties.status).toEqual({ $ref: '#/components/schemas/SandboxStatus' });
    expect(schemas['SandboxStatus'].enum).toEqual(['STARTING', 'RUNNING', 'PAUSED', 'ERROR', 'MISSING']);
    expect(schemas['Run'].properties.spent_nano_usd).toMatchObject({ type: 'integer', format: 'int64' });
    const { discriminator } = schemas['ControlRunRequest'];
    expect(discriminator.propertyName).toBe('type');
    expect(discriminator.mapping.holdRequested).toBe('#/components/schemas/ControlRunRequestHoldRequested');
  });

  it('spells statuses of agents as the dialect does', () => {
    const words = (dialect: 'spec' | 'openhands'): unknown =>
      documentOf(dialect)['components'].schemas.ConversationExecutionStatus.enum[0];
    expect([words('spec'), words('openhands')]).toEqual(['IDLE', 'idle']);
  });

  it('says that files and zips are bytes, a secret is a text, and a stream of tasks is their list', () => {
    const document = documentOf();
    const content = (id: string): Json => operation(document, id)['responses'][200].content as Json;
    const bytes = { schema: { type: 'string', format: 'binary' } };
    expect(content('download_trajectory')).toEqual({ 'application/zip': bytes });
    expect(content('get_run_result')).toEqual({ 'application/octet-stream': bytes });
    expect(content('get_sandbox_secret')).toEqual({ 'text/plain': { schema: { type: 'string' } } });
    expect(content('stream_start_app_conversation')['application/json'].schema).toEqual({
      type: 'array',
      items: { $ref: '#/components/schemas/StartTask' },
    });
  });

  it('refuses two forms under one name', () => {
    const components = new Components([]);
    const named = (field: string): z.ZodType => z.object({ [field]: z.string() }).meta({ id: 'Twice' });
    components.schemaOf(named('a'), { io: 'output', name: 'X' });
    expect(() => components.schemaOf(named('b'), { io: 'output', name: 'X' })).toThrow('called Twice');
  });
});
