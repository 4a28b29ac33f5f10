/**
 * The OpenAPI 3.1 document of the application API, from the routes themselves.
 * Owns the translation; what a route accepts and answers is said nowhere else.
 */
import { z } from 'zod';
import { ERROR_CATALOGUE, type ErrorCode } from '../../core/error-catalogue.ts';
import { IDEMPOTENCY_KEY } from './idempotency-key.ts';
import { isChange, type Route } from './route.ts';

type JsonObject = Readonly<Record<string, unknown>>;

/** What any route may answer, by who may call it. */
const ALWAYS: readonly ErrorCode[] = [
  'invalid_request',
  'request_timeout',
  'headers_too_large',
  'store_unavailable',
  'internal',
];
const KEYED: readonly ErrorCode[] = ['unauthorized', 'rate_limited'];

const ERROR_SCHEMA: JsonObject = {
  type: 'object',
  required: ['detail'],
  properties: {
    detail: {
      anyOf: [
        { type: 'string' },
        {
          type: 'array',
          items: {
            type: 'object',
            required: ['loc', 'msg', 'type'],
            properties: {
              loc: { type: 'array', items: { type: ['string', 'integer'] } },
              msg: { type: 'string' },
              type: { type: 'string' },
            },
          },
        },
        { type: 'object' },
      ],
    },
    code: { type: 'string' },
  },
};

const KEY_PARAMETER: JsonObject = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description: 'A repeat under the same key is done once; another request under it is 409.',
  schema: { type: 'string', pattern: IDEMPOTENCY_KEY.source },
};

export function openApiDocument(
  routes: readonly Route[],
  options: { readonly version: string; readonly url: string },
): JsonObject {
  const paths: Record<string, Record<string, JsonObject>> = {};
  for (const route of routes) {
    const path = templateOf(route.url);
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operationOf(route, routes) };
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Parley', version: options.version },
    servers: [{ url: options.url }],
    paths,
    components: {
      schemas: { Error: ERROR_SCHEMA },
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer' },
        sessionKey: { type: 'apiKey', in: 'header', name: 'X-Session-API-Key' },
      },
    },
  };
}

/** `{name}` for `:name`. */
export function templateOf(url: string): string {
  return url.replaceAll(/:([a-z_]+)/g, '{$1}');
}

function operationOf(route: Route, routes: readonly Route[]): JsonObject {
  const { body, status = 200 } = route;
  return {
    operationId: route.operation,
    summary: route.summary,
    security: securityOf(route),
    parameters: [
      ...parametersOf(route.params, 'path'),
      ...parametersOf(route.query, 'query'),
      ...(route.takesKey === true ? [KEY_PARAMETER] : []),
    ],
    ...(body === undefined
      ? {}
      : {
          requestBody: {
            required: !body.safeParse(undefined).success,
            content: { 'application/json': { schema: schemaOf(body, 'input') } },
          },
        }),
    responses: { [status]: { ...answerOf(route), ...linksOf(route, routes) }, ...errorsOf(route) },
  };
}

function securityOf({ access }: Route): readonly JsonObject[] {
  switch (access) {
    case 'open':
      return [];
    case 'key':
    case 'admin':
      return [{ bearer: [] }];
    case 'keyInEither':
      return [{ bearer: [] }, { sessionKey: [] }];
    case 'session':
      return [{ sessionKey: [] }];
  }
}

function answerOf({ result, summary }: Route): JsonObject {
  if (typeof result === 'string') return { description: summary, content: { [result]: {} } };
  return { description: summary, content: { 'application/json': { schema: schemaOf(result, 'output') } } };
}

/** From an answer to every operation whose address has what the answer holds. */
function linksOf({ leadsTo }: Route, routes: readonly Route[]): JsonObject {
  if (leadsTo === undefined) return {};
  const links = Object.entries(leadsTo).flatMap(([parameter, expression]) =>
    routes
      .filter(({ url }) => url.split('/').includes(`:${parameter}`))
      .map(({ operation }) => [
        `${operation}_by_${parameter}`,
        { operationId: operation, parameters: { [`path.${parameter}`]: expression } },
      ]),
  );
  return { links: Object.fromEntries(links) as JsonObject };
}

/** One entry a status, naming the codes that lead to it. */
function errorsOf(route: Route): Record<string, JsonObject> {
  const codes = new Set([
    ...ALWAYS,
    ...(route.access === 'open' ? [] : KEYED),
    ...(route.access === 'admin' ? (['forbidden'] as const) : []),
    ...(isChange(route) ? (['request_too_large'] as const) : []),
    ...(route.takesKey === true ? (['idempotency_conflict'] as const) : []),
    ...(route.errors ?? []),
  ]);
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of codes) {
    const { status } = ERROR_CATALOGUE[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return Object.fromEntries(
    [...byStatus].map(([status, named]) => [
      String(status),
      {
        description: named.join(', '),
        content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
      },
    ]),
  );
}

function parametersOf(schema: z.ZodType | undefined, place: 'path' | 'query'): readonly JsonObject[] {
  if (schema === undefined) return [];
  const { properties = {}, required = [] } = schemaOf(schema, 'input') as {
    readonly properties?: Readonly<Record<string, JsonObject>>;
    readonly required?: readonly string[];
  };
  return Object.entries(properties).map(([name, property]) => ({
    name,
    in: place,
    required: place === 'path' || required.includes(name),
    schema: property,
  }));
}

function schemaOf(schema: z.ZodType, io: 'input' | 'output'): JsonObject {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, {
    target: 'draft-2020-12',
    io,
    unrepresentable: 'any',
  });
  return rest;
}
