/**
 * `parley/client`: every operation of the application API as a typed function, and events as an iteration.
 * Owns the client's form; names and addresses are generated from the routes, and types are those of the routes themselves.
 */
import type { Route } from '../application/route.ts';
import type { APPLICATION_ROUTES } from '../application/routes.ts';
import { streamEvents, type EventStreamOptions, type StreamedEvent } from './event-stream.ts';
import { OPERATIONS } from './operations.ts';
import { streamRun, type RunChange, type RunStreamOptions } from './run-stream.ts';
import { sendCall, type TransportOptions } from './transport.ts';

export { ClientError } from './client-error.ts';
export type {
  EventStreamOptions,
  RunChange,
  RunStreamOptions,
  StreamedEvent,
  TransportOptions as ClientOptions,
};

type AnyRoute = (typeof APPLICATION_ROUTES)[number];
export type Operation = AnyRoute['operation'];
type ShapesOf<Name extends Operation> = NonNullable<
  Extract<AnyRoute, { readonly operation: Name }>['shapes']
>;

type Part<Name extends string, Value> = [Value] extends [undefined]
  ? object
  : undefined extends Value
    ? { readonly [Key in Name]?: Value }
    : object extends Value
      ? { readonly [Key in Name]?: Value }
      : { readonly [Key in Name]: Value };

/** Parameters of address and query, and the body, as far as the operation has them. */
export type InputOf<Name extends Operation> =
  ShapesOf<Name> extends {
    readonly params: infer Params;
    readonly query: infer Query;
    readonly body: infer Body;
  }
    ? Part<'params', Params> & Part<'query', Query> & Part<'body', Body>
    : never;
export type ResultOf<Name extends Operation> =
  ShapesOf<Name> extends { readonly result: infer Result } ? Result : never;

export interface CallOptions {
  /** A repeat under the same key is done once; without one, each call has a key of its own. */
  readonly idempotencyKey?: string;
  readonly signal?: AbortSignal;
}

type Camel<Text extends string> = Text extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<Camel<Tail>>}`
  : Text;

export type Client = {
  readonly [Name in Operation as Camel<Name>]: object extends InputOf<Name>
    ? (input?: InputOf<Name>, options?: CallOptions) => Promise<ResultOf<Name>>
    : (input: InputOf<Name>, options?: CallOptions) => Promise<ResultOf<Name>>;
} & {
  /** Every event once and in order, over as many connections as it takes. */
  events(
    conversationId: string,
    options?: EventStreamOptions,
  ): AsyncGenerator<StreamedEvent, void, undefined>;
  /** A run as it changes, the whole of it first and after each broken connection; ends when it has finished. */
  runChanges(runId: string, options?: RunStreamOptions): AsyncGenerator<RunChange, void, undefined>;
};

export function createClient(options: TransportOptions): Client {
  const transport = { ...options, url: options.url.replace(/\/+$/, '') };
  const calls = Object.entries<Place>(OPERATIONS).map(([name, place]) => [
    name.replaceAll(/_([a-z])/g, (_match, letter: string) => letter.toUpperCase()),
    (input?: Input, call?: CallOptions) => callOne(transport, place, { ...input, ...call }),
  ]);
  const events: Client['events'] = (id, wish) => streamEvents(transport, id, wish);
  const runChanges: Client['runChanges'] = (id, wish) => streamRun(transport, id, wish);
  return {
    ...(Object.fromEntries(calls) as Omit<Client, 'events' | 'runChanges'>),
    events,
    runChanges,
  } as Client;
}

interface Input extends CallOptions {
  readonly params?: Readonly<Record<string, unknown>>;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
}

interface Place {
  readonly method: Route['method'];
  readonly url: string;
  readonly answer: 'json' | 'response';
}

async function callOne(
  transport: TransportOptions,
  { method, url, answer }: Place,
  { params = {}, query = {}, body, idempotencyKey, signal }: Input,
): Promise<unknown> {
  const path = url.replaceAll(/:([a-z_]+)/g, (_match, name: string) =>
    encodeURIComponent(String(params[name])),
  );
  const search = searchOf(query);
  const headers: Record<string, string> =
    method === 'GET' ? {} : { 'idempotency-key': idempotencyKey ?? globalThis.crypto.randomUUID() };
  const response = await sendCall(transport, { method, path: `${path}${search}`, headers, body, signal });
  return answer === 'json' ? ((await response.json()) as unknown) : response;
}

/** A list is a parameter for each of its values. */
function searchOf(query: Readonly<Record<string, unknown>>): string {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value])
      .filter((one) => one !== undefined && one !== null)
      .map((one): [string, string] => [name, String(one)]),
  );
  return pairs.length === 0 ? '' : `?${new URLSearchParams(pairs).toString()}`;
}
