/**
 * A piece of an entity's life as a span, and the ids that make it part of the entity's trace.
 * Ids follow from the entity's own, so that every worker writes into the same trace: nothing travels in headers or
 * histories, and what is written twice is the same span.
 */
import { createHash } from 'node:crypto';
import { addressKey, type EntityAddress } from '../core/ids.ts';

export type AttributeValue =
  string | number | boolean | readonly string[] | readonly number[] | readonly boolean[];

export interface Span {
  /** 32 hex digits; one trace for each entity. */
  readonly traceId: string;
  /** 16 hex digits. */
  readonly spanId: string;
  /** Null for the root. */
  readonly parentSpanId: string | null;
  /** Of few values: `conversation`, a type of command, or what a start request says. */
  readonly name: string;
  /** Epoch milliseconds. */
  readonly startMs: number;
  readonly endMs: number;
  /** Ids, tags, codes and what a start request says; no text of a message or of an error, and no secret. */
  readonly attributes: Readonly<Record<string, AttributeValue>>;
  /** Code of the error that ended it; null when it went well. */
  readonly errorCode: string | null;
}

/** Takes spans that have ended; must neither wait nor throw. */
export interface SpanSink {
  add(span: Span): void;
}

const TRACE_ID_LENGTH = 32;
const SPAN_ID_LENGTH = 16;

export function traceIdOf(address: EntityAddress): string {
  return hash(`trace ${addressKey(address)}`, TRACE_ID_LENGTH);
}

/** `what` distinguishes the spans of one entity. */
export function spanIdOf(address: EntityAddress, what: string): string {
  return hash(`span ${addressKey(address)} ${what}`, SPAN_ID_LENGTH);
}

/**
 * The span that everything done for the entity hangs below: the one that its start request names, else the root.
 * It has one id either way, so that the one that carries a command out need not know which of the two it is.
 */
export function workSpanId(address: EntityAddress): string {
  return spanIdOf(address, 'root');
}

/** The one span without a parent. */
export function rootSpanId(address: EntityAddress, { isNamed }: { readonly isNamed: boolean }): string {
  return isNamed ? spanIdOf(address, 'outer') : workSpanId(address);
}

function hash(text: string, length: number): string {
  return createHash('sha256').update(text).digest('hex').slice(0, length);
}
