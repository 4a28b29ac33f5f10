/**
 * What crosses between a play that waits and the process that hosts its engines.
 * Owns the shapes: plain data, understood on both sides.
 */
import { asParleyError, ParleyError, type ParleyErrorOptions } from '../../core/parley-error.ts';
import type { EngineOrder, Rest } from './engine-order.ts';

export type EngineCall =
  | { readonly call: 'open'; readonly engine: number; readonly eventsMax: number | null }
  | { readonly call: 'perform'; readonly engine: number; readonly orders: readonly EngineOrder[] }
  | { readonly call: 'close'; readonly engine: number };

/** What an engine is known by once it is open. */
export interface OpenEngine {
  /** Epoch milliseconds of its server's clock. */
  readonly startAt: number;
  /** Of its server. */
  readonly pid: number;
}

export type EngineValue = OpenEngine | Rest | null;

export interface Failure {
  readonly code: ParleyError['code'];
  readonly message: string;
  readonly remedy: string | null;
}

export type EngineReply =
  { readonly ok: true; readonly value: EngineValue } | { readonly ok: false; readonly failure: Failure };

/** An error as data: a class does not survive the way. */
export function failureOf(error: unknown): Failure {
  const { code, message, remedy } = asParleyError(error);
  // An unforeseen error keeps its own words: this is a tool of tests.
  return { code, message: error instanceof Error ? error.message : message, remedy };
}

export function errorOf({ code, message, remedy }: Failure): ParleyError {
  const options: ParleyErrorOptions = remedy === null ? {} : { remedy };
  return new ParleyError(code, message, options);
}
