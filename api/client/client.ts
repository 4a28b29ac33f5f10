/**
 * `parley/client`: every operation of the application API as a typed function, and events as an iteration.
 * Owns the client's form; names and addresses are generated from the routes, and types are those of the routes themselves.
 */
import type { Route } from '../application/route.ts';
import type { APPLICATION_ROUTES } from '../application/routes.ts';
import type { RunItemRecord, RunRecord } from '../runs/run-record.ts';
import { ClientError } from './client-error.ts';
import { type LastingOptions, lastingFrames } from './lasting-frames.ts';
import { OPERATIONS } from './operations.ts';
import { sendCall, type TransportOptions } from './transport.ts';

export { ClientError } from './client-error.ts';
export type {
  EventStreamOptions,
  PartialEvent,
  RunChange,
  RunStreamOptions,
  StreamedEvent,
  TransportOptions as ClientOptions,
};

type AnyRoute = (typeof APPLICATION_ROUTES)[number];
/** Name of an operation, as the OpenAPI document has it. */
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
/** What an operation answers with. */
export type ResultOf<Name extends Operation> =
  ShapesOf<Name> extends { readonly result: infer Result } ? Result : never;

/** Options of any call. */
export interface CallOptions {
  /** A repeat under the same key is done once; without one, each call has a key of its own. */
  readonly idempotencyKey?: string;
  readonly signal?: AbortSignal;
}

type Camel<Text extends string> = Text extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<Camel<Tail>>}`
  : Text;

/** Every operation under its name in camel case, and events as an iteration. */
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

/** A client of one service; nothing is sent before the first call. */
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

/** A run as an iteration over its changes that survives its connections. */
interface RunChange {
  readonly run: RunRecord;
  /** Those that changed; all of them in the first change of a connection. */
  readonly items: readonly RunItemRecord[];
}

type RunStreamOptions = Partial<LastingOptions>;

/** Ends when the run has finished, and at nothing else: it outlasts any outage. @throws ClientError; the reason of the signal */
async function* streamRun(
  transport: TransportOptions,
  runId: string,
  { signal = transport.signal, ...options }: RunStreamOptions = {},
): AsyncGenerator<RunChange, void, undefined> {
  const path = `/api/v1/runs/${encodeURIComponent(runId)}/stream`;
  for await (const { name, data } of lastingFrames(transport, () => path, { ...options, signal })) {
    if (name === 'finished') return;
    yield JSON.parse(data) as RunChange;
  }
}

/** Events of a conversation as an iteration that survives its connections: each once and in order. */
interface StreamedEvent {
  /** Pass it as `afterSeq` to go on behind this event. */
  readonly seq: number;
  readonly event: { readonly id: string; readonly kind: string; readonly [field: string]: unknown };
}

interface EventStreamOptions extends Partial<LastingOptions> {
  /** 0 is the whole history. */
  readonly afterSeq?: number;
  /** Receives what is not an event yet; some of it may be missing, and the event that follows has all of it. */
  onPartial?(partial: PartialEvent): void;
}

/** Words of a model as they come, or output of a command that runs: what came since the last one. */
type PartialEvent =
  | {
      readonly kind: 'StreamingDeltaEvent';
      readonly content?: string | null;
      readonly reasoning_content?: string | null;
      /** That of the event that will have all of it, where the agent knows it. */
      readonly llm_response_id?: string | null;
    }
  | {
      readonly kind: 'StreamingOutputEvent';
      readonly tool_name: string;
      readonly tool_call_id: string;
      readonly action_id: string;
      readonly content: string;
    };

/** Ends when the conversation is deleted, and at nothing else: it outlasts any outage. @throws ClientError; the reason of the signal */
async function* streamEvents(
  transport: TransportOptions,
  conversationId: string,
  { afterSeq = 0, signal = transport.signal, onPartial, ...options }: EventStreamOptions = {},
): AsyncGenerator<StreamedEvent, void, undefined> {
  let seq = afterSeq;
  const path = (): string =>
    `/api/v1/conversation/${encodeURIComponent(conversationId)}/events/stream?after_seq=${seq}${onPartial === undefined ? '' : '&partials=true'}`;
  try {
    for await (const { id, name, data } of lastingFrames(transport, path, { ...options, signal })) {
      if (name === 'deleted') return;
      if (name === 'partial') {
        onPartial?.(JSON.parse(data) as PartialEvent);
        continue;
      }
      seq = id;
      yield { seq, event: JSON.parse(data) as StreamedEvent['event'] };
    }
  } catch (error) {
    // It existed, and was deleted while no connection could report it.
    if (error instanceof ClientError && error.status === 404 && seq > afterSeq) return;
    throw error;
  }
}
