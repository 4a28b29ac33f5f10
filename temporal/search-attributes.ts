/**
 * Whether a namespace has Parley's search attributes, and their registration.
 * Owns the comparison; the names and types are in workflows/search-attributes.ts.
 */
import { ParleyError } from '../core/parley-error.ts';
import { SEARCH_ATTRIBUTES } from '../workflows/search-attributes.ts';
import { GRPC, grpcCode } from './grpc-code.ts';
import { ask, type ServerConnection } from './server-client.ts';

export type SearchAttribute = (typeof SEARCH_ATTRIBUTES)[number];

export interface AttributeFindings {
  readonly present: readonly SearchAttribute[];
  readonly missing: readonly SearchAttribute[];
  /** Registered under another type, which a server cannot change. */
  readonly mistyped: readonly SearchAttribute[];
}

/** The number and the spelling of each type: `IndexedValueType` of the API, and flags of the Temporal CLI. */
const TYPES = {
  KEYWORD: { number: 2, name: 'Keyword' },
  KEYWORD_LIST: { number: 7, name: 'KeywordList' },
} as const;

export function attributeTypeName({ type }: SearchAttribute): string {
  return TYPES[type].name;
}

/**
 * What `namespace` has; null when the server refuses the query, as Temporal Cloud does, where they are made by hand.
 * @throws the error of gRPC, NOT_FOUND without the namespace
 */
export async function findSearchAttributes(
  connection: ServerConnection,
  namespace: string,
): Promise<AttributeFindings | null> {
  const known = await customAttributes(connection, namespace);
  if (known === null) return null;
  const of = (matches: (type: number | undefined, wanted: number) => boolean) =>
    SEARCH_ATTRIBUTES.filter(({ name, type }) => matches(known[name], TYPES[type].number));
  return {
    present: of((type, wanted) => type === wanted),
    missing: of((type) => type === undefined),
    mistyped: of((type, wanted) => type !== undefined && type !== wanted),
  };
}

/**
 * Registers what is missing and returns the names; a repeat registers nothing.
 * @throws ParleyError engine_misconfigured when a name is taken with another type, or registering is refused; else the
 * error of gRPC
 */
export async function registerSearchAttributes(
  connection: ServerConnection,
  namespace: string,
): Promise<readonly string[]> {
  const found = await findSearchAttributes(connection, namespace);
  if (found !== null) refuseMistyped(namespace, found);
  const registered: string[] = [];
  // A server that does not list them may still take them, and reports which it has: the one that skips time does.
  for (const attribute of found?.missing ?? SEARCH_ATTRIBUTES) {
    if (await register(connection, { namespace, attribute })) registered.push(attribute.name);
  }
  return registered;
}

interface AttributeOfNamespace {
  readonly namespace: string;
  readonly attribute: SearchAttribute;
}

/** False when the server has it already. */
async function register(
  connection: ServerConnection,
  { namespace, attribute: { name, type } }: AttributeOfNamespace,
): Promise<boolean> {
  const searchAttributes = { [name]: TYPES[type].number };
  try {
    await ask(connection, () =>
      connection.operatorService.addSearchAttributes({ namespace, searchAttributes }),
    );
    return true;
  } catch (error) {
    if (grpcCode(error) === GRPC.alreadyExists) return false;
    if (isNotAllowed(error)) throw notAllowed(namespace, error);
    throw error;
  }
}

/** @throws ParleyError engine_misconfigured when a name is registered under another type */
export function refuseMistyped(namespace: string, { mistyped }: AttributeFindings): void {
  if (mistyped.length === 0) return;
  const wanted = mistyped.map((attribute) => `${attribute.name} must be ${attributeTypeName(attribute)}`);
  const message = `Cannot use namespace "${namespace}": search attributes have another type, ${wanted.join(', ')}`;
  throw new ParleyError('engine_misconfigured', message, {
    remedy: 'use a namespace of its own for Parley: a type cannot be changed',
  });
}

function notAllowed(namespace: string, cause: unknown): ParleyError {
  const wanted = SEARCH_ATTRIBUTES.map((attribute) => `${attribute.name} (${attributeTypeName(attribute)})`);
  const message = `Cannot register search attributes of namespace "${namespace}": the server does not allow it`;
  return new ParleyError('engine_misconfigured', message, {
    cause,
    remedy: `add them in the console of the server: ${wanted.join(', ')}`,
  });
}

async function customAttributes(
  connection: ServerConnection,
  namespace: string,
): Promise<Readonly<Record<string, number>> | null> {
  try {
    const answer = await ask(connection, () =>
      connection.operatorService.listSearchAttributes({ namespace }),
    );
    return answer.customAttributes;
  } catch (error) {
    if (isNotAllowed(error)) return null;
    throw error;
  }
}

function isNotAllowed(error: unknown): boolean {
  const code = grpcCode(error);
  return code === GRPC.permissionDenied || code === GRPC.unauthenticated || code === GRPC.unimplemented;
}
