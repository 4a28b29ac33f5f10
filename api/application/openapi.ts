/**
 * The OpenAPI 3.1 document of the application API, from the routes themselves.
 * Owns the translation; what a route accepts and answers is said nowhere else.
 */
import { z } from 'zod';
import { ERROR_CATALOGUE, type ErrorCode } from '../../core/error-catalogue.ts';
import { choices, Components, pascalCase, type JsonObject } from './components.ts';
import { IDEMPOTENCY_KEY } from './idempotency-key.ts';
import { isChange, type Route } from './route.ts';
import { SPOKEN_STATUS, VOCABULARIES } from './words.ts';

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
              loc: { type: 'array', items: { anyOf: [{ type: 'string' }, { type: 'integer' }] } },
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

export interface DocumentOptions {
  readonly version: string;
  readonly url: string;
  /** Execution statuses of conversations as they are spelled here (D2). */
  readonly executionStatuses: readonly string[];
}

/** What an operation is translated with. */
interface Around {
  readonly routes: readonly Route[];
  readonly components: Components;
}

export function openApiDocument(routes: readonly Route[], options: DocumentOptions): JsonObject {
  const components = new Components(VOCABULARIES);
  components.add('Error', components.hoisted(ERROR_SCHEMA, 'Error'));
  const paths: Record<string, Record<string, JsonObject>> = {};
  for (const route of routes) {
    const path = templateOf(route.url);
    const operation = operationOf(route, { routes, components });
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation };
  }
  const schemas = components.all();
  return {
    openapi: '3.1.0',
    info: { title: 'Parley', version: options.version, license: { name: 'MIT', identifier: 'MIT' } },
    servers: [{ url: options.url }],
    tags: [...new Set(routes.map(tagOf))].map((name) => ({ name })),
    paths,
    components: {
      schemas: { ...schemas, [SPOKEN_STATUS]: { type: 'string', enum: options.executionStatuses } },
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer' },
        sessionKey: { type: 'apiKey', in: 'header', name: 'X-Session-API-Key' },
      },
    },
  };
}

/** Where generators put an operation: what its address is about. */
const TAGS: Readonly<Record<string, string>> = {
  'app-conversations': 'conversations',
  conversations: 'conversations',
  conversation: 'events',
  sandboxes: 'sandboxes',
  'sandbox-specs': 'sandboxes',
  runs: 'runs',
  settings: 'settings',
  users: 'settings',
  secrets: 'secrets',
  keys: 'keys',
  audit: 'keys',
};

function tagOf({ url }: Route): string {
  const [first = ''] = url.replace(/^\/api\/(?:v1\/)?/, '').split('/');
  return TAGS[first] ?? 'service';
}

/** `{name}` for `:name`. */
export function templateOf(url: string): string {
  return url.replaceAll(/:([a-z_]+)/g, '{$1}');
}

function operationOf(route: Route, around: Around): JsonObject {
  const { status = 200, operation } = route;
  const { components, routes } = around;
  return {
    operationId: operation,
    summary: route.summary,
    tags: [tagOf(route)],
    security: securityOf(route),
    parameters: [
      ...parametersOf(route, 'path', components),
      ...parametersOf(route, 'query', components),
      ...(route.takesKey === true ? [KEY_PARAMETER] : []),
    ],
    ...bodyOf(route, components),
    responses: {
      [status]: { ...answerOf(route, components), ...linksOf(route, routes) },
      ...errorsOf(route),
    },
  };
}

/** A body that may be left out may be null, too; generators know the former, and would make a type of the latter. */
function bodyOf({ body, operation }: Route, components: Components): JsonObject {
  if (body === undefined) return {};
  const whole = components.schemaOf(body, { io: 'input', name: `${pascalCase(operation)}Request` });
  const [schema = whole, ...others] = choices(whole);
  return {
    requestBody: {
      required: !body.safeParse(undefined).success,
      content: { 'application/json': { schema: others.length === 0 ? schema : whole } },
    },
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

function answerOf({ result, sends, summary, operation }: Route, components: Components): JsonObject {
  const name = `${pascalCase(operation)}Response`;
  const schemaOf = (schema: z.ZodType): JsonObject => components.schemaOf(schema, { io: 'output', name });
  const [type, schema] =
    typeof result === 'string'
      ? [result, sends === undefined ? sentAs(result) : schemaOf(sends)]
      : ['application/json', schemaOf(result)];
  return { description: summary, content: { [type]: { schema } } };
}

/** A body that is no JSON: text, or bytes, which generators know by this format. */
function sentAs(type: string): JsonObject {
  return type.startsWith('text/') ? { type: 'string' } : { type: 'string', format: 'binary' };
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

function parametersOf(
  { operation, params, query }: Route,
  place: 'path' | 'query',
  components: Components,
): readonly JsonObject[] {
  const schema = place === 'path' ? params : query;
  if (!(schema instanceof z.ZodObject)) return [];
  return Object.entries(schema.shape as Readonly<Record<string, z.ZodType>>).map(([name, field]) => ({
    name,
    in: place,
    required: place === 'path' || !field.safeParse(undefined).success,
    schema: components.schemaOf(field, { io: 'input', name: pascalCase(`${operation}_${name}`) }),
  }));
}
