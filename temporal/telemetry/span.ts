/**
 * A piece of an entity's life as a span, and the ids that make it part of the entity's trace.
 * Ids follow from the entity's own, so that every worker writes into the same trace: nothing travels in headers or
 * histories, and what is written twice is the same span.
 */
import { createHash } from 'node:crypto';
import { addressKey, type EntityAddress } from '../../core/ids.ts';

export type AttributeValue = string | number | boolean;

export interface Span {
  /** 32 hex digits; one trace for each entity. */
  readonly traceId: string;
  /** 16 hex digits. */
  readonly spanId: string;
  /** Null for the root. */
  readonly parentSpanId: string | null;
  /** Of few values: `conversation`, or a type of command. */
  readonly name: string;
  /** Epoch milliseconds. */
  readonly startMs: number;
  readonly endMs: number;
  /** Ids, tags and codes; no text of a message or of an error, and no secret. */
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

/** `what` tells the spans of one entity apart. */
export function spanIdOf(address: EntityAddress, what: string): string {
  return hash(`span ${addressKey(address)} ${what}`, SPAN_ID_LENGTH);
}

/** The one span without a parent. */
export function rootSpanId(address: EntityAddress): string {
  return spanIdOf(address, 'root');
}

function hash(text: string, length: number): string {
  return createHash('sha256').update(text).digest('hex').slice(0, length);
}
