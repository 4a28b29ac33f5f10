/**
 * A route of the application API as one value: address, shapes, access, handler.
 * Owns the form; validation, types and the OpenAPI document all come from it.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import type { ErrorCode } from '../../core/error-catalogue.ts';
import type { Application, Principal, SandboxCaller } from './application.ts';

/**
 * `open`: no key. `key`: an API key. `keyInEither`: an API key as bearer or in `X-Session-API-Key` (D5).
 * `admin`: a key of that scope. `session`: the session key of the sandbox in the path.
 */
export type Access = 'open' | 'key' | 'keyInEither' | 'admin' | 'session';

type CallerOf<Given extends Access> = Given extends 'session'
  ? SandboxCaller
  : Given extends 'open'
    ? null
    : Principal;

export interface Call<Params, Query, Body, Caller> {
  readonly application: Application;
  readonly caller: Caller;
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

type Output<Schema> = Schema extends z.ZodType ? z.output<Schema> : undefined;

/** A route with its types forgotten, as the server of all of them holds it. */
export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** With `:name` for parameters. */
  readonly url: string;
  /** Name of the operation, unique. */
  readonly operation: string;
  readonly summary: string;
  readonly access: Access;
  readonly params?: z.ZodType;
  readonly query?: z.ZodType;
  readonly body?: z.ZodType;
  /** Shape of the answer, or the media type of one that the handler sends itself. */
  readonly result: z.ZodType | string;
  /** Shape of an `application/json` that the handler sends itself. */
  readonly sends?: z.ZodType;
  readonly status?: 200 | 201;
  /** Takes an `Idempotency-Key`, and refuses another request under one that was used. */
  readonly takesKey?: true;
  /** Besides those that every route may answer. */
  readonly errors?: readonly ErrorCode[];
  /** Where a parameter of other addresses is found: its name, and an expression of OpenAPI over request and answer. */
  readonly leadsTo?: Readonly<Record<string, string>>;
  readonly handler: (call: Call<unknown, unknown, unknown, never>) => Promise<unknown>;
}

export interface RouteDefinition<Operation, Params, Query, Body, Result, Given extends Access> extends Omit<
  Route,
  'operation' | 'access' | 'params' | 'query' | 'body' | 'result' | 'handler'
> {
  readonly operation: Operation;
  readonly access: Given;
  readonly params?: Params;
  readonly query?: Query;
  readonly body?: Body;
  readonly result: Result;
  /** Null when the handler has sent the answer itself. */
  readonly handler: (
    call: Call<Output<Params>, Output<Query>, Output<Body>, CallerOf<Given>>,
  ) => Promise<Result extends z.ZodType ? z.output<Result> : null>;
}

type Input<Schema> = Schema extends z.ZodType ? z.input<Schema> : undefined;

/** What a client sends and gets; `Response` where the answer is no JSON. */
export interface Shapes<Params, Query, Body, Result> {
  readonly params: Input<Params>;
  readonly query: Input<Query>;
  readonly body: Input<Body>;
  readonly result: Result extends z.ZodType ? z.output<Result> : Response;
}

/** A route that still has its name and shapes, for the compiler alone. */
export interface TypedRoute<Operation extends string, Told> extends Route {
  readonly operation: Operation;
  readonly shapes?: Told;
}

export function route<
  const Operation extends string,
  Params extends z.ZodType | undefined = undefined,
  Query extends z.ZodType | undefined = undefined,
  Body extends z.ZodType | undefined = undefined,
  Result extends z.ZodType | string = string,
  Given extends Access = 'key',
>(
  definition: RouteDefinition<Operation, Params, Query, Body, Result, Given>,
): TypedRoute<Operation, Shapes<Params, Query, Body, Result>> {
  return definition as unknown as TypedRoute<Operation, Shapes<Params, Query, Body, Result>>;
}

/** Whether the call changes something: those are in the audit log. */
export function isChange({ method }: Pick<Route, 'method'>): boolean {
  return method !== 'GET';
}
