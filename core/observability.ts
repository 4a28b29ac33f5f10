/**
 * What a start request says about the trace of its conversation: a span's name, tags, metadata (spec "Start request").
 * Owns their shape, their bounds and what is wrong with them; must not know how a trace is recorded.
 */
import {
  OBSERVABILITY_ARRAY_MAX,
  OBSERVABILITY_KEY_CODE_POINTS_MAX,
  OBSERVABILITY_METADATA_MAX,
  OBSERVABILITY_NAME_CODE_POINTS_MAX,
  OBSERVABILITY_TAGS_MAX,
  OBSERVABILITY_TEXT_CODE_POINTS_MAX,
} from './limits.ts';

export type MetadataValue =
  string | number | boolean | readonly string[] | readonly number[] | readonly boolean[];

/** How the telemetry of one conversation is labelled. */
export interface Observability {
  /** Name of the span between the root span `conversation` and what is done for it; null for none. */
  readonly spanName: string | null;
  /** Tags of the root span, in the order given. */
  readonly tags: readonly string[];
  readonly metadata: Readonly<Record<string, MetadataValue>>;
}

/** The fields as they come in; absent and null mean the same. */
export interface ObservabilityFields {
  readonly observability_span_name?: unknown;
  readonly observability_tags?: unknown;
  readonly observability_metadata?: unknown;
}

export interface ObservabilityProblem {
  /** Path of the value, such as `observability_metadata.team`. */
  readonly field: string;
  /** What it is, to be read after the field: "is no text". No value is repeated. */
  readonly message: string;
}

export type ReadObservability =
  | { readonly kind: 'read'; readonly observability: Observability | null }
  | { readonly kind: 'refused'; readonly problems: readonly ObservabilityProblem[] };

/** Null when the request says nothing about its trace. A `number[]` may mix integers and floats (D21). */
export function readObservability(fields: ObservabilityFields): ReadObservability {
  const {
    observability_span_name: name = null,
    observability_tags: tags = null,
    observability_metadata: metadata = null,
  } = fields;
  const problems = [...nameProblems(name), ...tagProblems(tags), ...metadataProblems(metadata)];
  if (problems.length > 0) return { kind: 'refused', problems };
  if (name === null && tags === null && metadata === null) return { kind: 'read', observability: null };
  const observability: Observability = {
    spanName: name as string | null,
    tags: (tags ?? []) as readonly string[],
    metadata: (metadata ?? {}) as Observability['metadata'],
  };
  return { kind: 'read', observability };
}

function nameProblems(name: unknown): readonly ObservabilityProblem[] {
  const field = 'observability_span_name';
  if (name === null) return [];
  if (typeof name !== 'string') return [{ field, message: 'is no text' }];
  return name.trim() === ''
    ? [{ field, message: 'is empty' }]
    : tooLong(field, name, OBSERVABILITY_NAME_CODE_POINTS_MAX);
}

function tagProblems(tags: unknown): readonly ObservabilityProblem[] {
  const field = 'observability_tags';
  if (tags === null) return [];
  if (!Array.isArray(tags)) return [{ field, message: 'is no list' }];
  if (tags.length > OBSERVABILITY_TAGS_MAX)
    return [{ field, message: `has more than ${OBSERVABILITY_TAGS_MAX} tags` }];
  return (tags as readonly unknown[]).flatMap((tag, at) => {
    const place = `${field}[${at}]`;
    if (typeof tag !== 'string') return [{ field: place, message: 'is no text' }];
    return tooLong(place, tag, OBSERVABILITY_TEXT_CODE_POINTS_MAX);
  });
}

function metadataProblems(metadata: unknown): readonly ObservabilityProblem[] {
  const field = 'observability_metadata';
  if (metadata === null) return [];
  if (typeof metadata !== 'object' || Array.isArray(metadata)) return [{ field, message: 'is no object' }];
  const entries = Object.entries(metadata) as readonly (readonly [string, unknown])[];
  if (entries.length > OBSERVABILITY_METADATA_MAX)
    return [{ field, message: `has more than ${OBSERVABILITY_METADATA_MAX} keys` }];
  return entries.flatMap(([key, value]) => {
    if (key === '') return [{ field, message: 'has an empty key' }];
    if (lengthOf(key) > OBSERVABILITY_KEY_CODE_POINTS_MAX) {
      const message = `has a key of more than ${OBSERVABILITY_KEY_CODE_POINTS_MAX} characters`;
      return [{ field, message }];
    }
    return valueProblems(`${field}.${key}`, value);
  });
}

function valueProblems(field: string, value: unknown): readonly ObservabilityProblem[] {
  if (!Array.isArray(value)) return scalarProblems(field, value);
  const items = value as readonly unknown[];
  if (items.length > OBSERVABILITY_ARRAY_MAX)
    return [{ field, message: `has more than ${OBSERVABILITY_ARRAY_MAX} items` }];
  if (new Set(items.map((item) => typeof item)).size > 1)
    return [{ field, message: 'mixes kinds of values: a list holds texts, numbers or truth values alone' }];
  return items.flatMap((item, at) => scalarProblems(`${field}[${at}]`, item));
}

function scalarProblems(field: string, value: unknown): readonly ObservabilityProblem[] {
  switch (typeof value) {
    case 'boolean':
      return [];
    case 'number':
      return Number.isFinite(value) ? [] : [{ field, message: 'is no finite number' }];
    case 'string':
      return tooLong(field, value, OBSERVABILITY_TEXT_CODE_POINTS_MAX);
    default:
      return [{ field, message: 'is no text, number, truth value or list of these' }];
  }
}

function tooLong(field: string, text: string, max: number): readonly ObservabilityProblem[] {
  return lengthOf(text) > max ? [{ field, message: `has more than ${max} characters` }] : [];
}

/** In Unicode code points, as tags are counted (D21). */
function lengthOf(text: string): number {
  return [...text].length;
}
