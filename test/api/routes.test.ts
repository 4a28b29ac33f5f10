/** The routes, their page and their OpenAPI document say the same, and every answer has the shape that is promised. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { openApiDocument, templateOf } from '../../api/application/openapi.ts';
import { APPLICATION_ROUTES } from '../../api/application/routes.ts';
import { EXECUTION_STATUSES } from '../../core/status.ts';
import { openService, startReady, type Service } from './service.ts';

const DOCUMENT_OF = { version: '1', url: 'http://x', executionStatuses: EXECUTION_STATUSES };
const PAGE = readFileSync(path.resolve(import.meta.dirname, '../../docs/api.md'), 'utf8');

interface Operation {
  readonly operationId: string;
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, { schema?: object }>> }>
  >;
}

describe('the page', () => {
  it('lists every route with its operation, access and summary, and no other', () => {
    const listed = [...PAGE.matchAll(/^\| `([A-Z]+ \/\S+)` \| `(\w+)` \| (\w+) \| (.+) \|$/gm)].map(
      ([, route, operation, access, summary]) => [route, operation, access, summary?.trim()],
    );
    const routes = APPLICATION_ROUTES.map((one) => [
      `${one.method} ${templateOf(one.url)}`,
      one.operation,
      one.access,
      one.summary,
    ]);
    expect(listed).toEqual(routes);
  });
});

describe('the OpenAPI document', () => {
  it('names every operation once, and each of its schemas is one', () => {
    const document = openApiDocument(APPLICATION_ROUTES, DOCUMENT_OF) as {
      readonly openapi: string;
      readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
    };
    expect(document.openapi).toBe('3.1.0');
    const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
    const names = operations.map(({ operationId }) => operationId);
    expect(new Set(names).size).toBe(APPLICATION_ROUTES.length);
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    for (const { responses } of operations)
      for (const { content = {} } of Object.values(responses))
        for (const { schema } of Object.values(content))
          if (schema !== undefined && !('$ref' in schema)) expect(ajv.validateSchema(schema)).toBe(true);
  });

  it('tells the shape of what is really answered', async () => {
    const service = await openService();
    const { id, taskId, sandboxId } = await startReady(service, { tags: { team: 'blue' } });
    const paths = [
      `/api/v1/app-conversations?ids=${id}`,
      '/api/v1/app-conversations/search',
      '/api/v1/app-conversations/count',
      `/api/v1/app-conversations/start-tasks?ids=${taskId}`,
      '/api/v1/app-conversations/start-tasks/search',
      `/api/v1/sandboxes?id=${sandboxId}`,
      '/api/v1/sandboxes/search',
      `/api/v1/sandboxes/${sandboxId}/impact`,
      '/api/v1/sandbox-specs/search',
      '/api/v1/runs/search',
      '/api/v1/settings',
      '/api/v1/users/me',
      '/api/v1/settings/profiles',
      '/api/v1/secrets/search',
      '/api/keys',
      '/api/keys/current',
      '/api/v1/audit/search',
      '/api/v1/web-client/config',
      '/api/v1/config/models/search',
      '/health',
      '/alive',
    ];
    const document = (await service.call({ path: '/openapi.json', key: null })).body;
    for (const one of paths) await expectPromised(service, document, one);
  });
});

async function expectPromised(
  service: Service,
  document: {
    readonly paths: Readonly<Record<string, { readonly get: Operation }>>;
    readonly components: object;
  },
  address: string,
): Promise<void> {
  const answer = await service.call({ path: address });
  expect([address, answer.status]).toEqual([address, 200]);
  const bare = address.replace(/\?.*$/, '').replace(/[0-9a-f]{32}/, '{sandbox_id}');
  const named = document.paths[bare]?.get.responses['200']?.content?.['application/json']?.schema ?? {};
  const schema = { ...named, components: document.components };
  const validate = new Ajv2020({ strict: false, validateFormats: false }).compile(schema);
  expect([address, validate(answer.body), validate.errors]).toEqual([address, true, null]);
}
