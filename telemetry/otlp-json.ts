/**
 * Spans in the form that collectors take: OTLP as JSON.
 * Owns the encoding; the source is the JSON mapping of OpenTelemetry's protocol, ids in hex and 64-bit numbers as text.
 */
import type { AttributeValue, Span } from './span.ts';

export interface Sender {
  readonly serviceName: string;
  /** Version of Parley. */
  readonly version: string;
}

export function otlpJson(spans: readonly Span[], { serviceName, version }: Sender): string {
  const resource = { attributes: attributesOf({ 'service.name': serviceName, 'service.version': version }) };
  const scope = { name: 'parley', version };
  return JSON.stringify({
    resourceSpans: [{ resource, scopeSpans: [{ scope, spans: spans.map(spanJson) }] }],
  });
}

/** `SPAN_KIND_INTERNAL` and `STATUS_CODE_ERROR`. */
const KIND_INTERNAL = 1;
const STATUS_ERROR = 2;

function spanJson(span: Span): unknown {
  const { traceId, spanId, parentSpanId, name, startMs, endMs, attributes, errorCode } = span;
  const error = errorCode === null ? {} : { 'error.type': errorCode };
  return {
    traceId,
    spanId,
    ...(parentSpanId === null ? {} : { parentSpanId }),
    name,
    kind: KIND_INTERNAL,
    startTimeUnixNano: nanoseconds(startMs),
    endTimeUnixNano: nanoseconds(endMs),
    attributes: attributesOf({ ...attributes, ...error }),
    status: errorCode === null ? {} : { code: STATUS_ERROR, message: errorCode },
  };
}

function nanoseconds(ms: number): string {
  return `${BigInt(Math.round(ms)) * 1_000_000n}`;
}

function attributesOf(attributes: Span['attributes']): readonly unknown[] {
  return Object.entries(attributes).map(([key, value]) => ({ key, value: valueJson(value) }));
}

function valueJson(value: AttributeValue): unknown {
  if (isList(value)) return { arrayValue: { values: listJson(value) } };
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}

/** One kind of value in a list: with one fraction in it, all its numbers are written as such (D21). */
function listJson(values: readonly (string | number | boolean)[]): readonly unknown[] {
  const hasFraction = values.some((value) => typeof value === 'number' && !Number.isSafeInteger(value));
  return values.map((value) =>
    hasFraction && typeof value === 'number' ? { doubleValue: value } : valueJson(value),
  );
}

function isList(value: AttributeValue): value is readonly string[] | readonly number[] | readonly boolean[] {
  return Array.isArray(value);
}
