/**
 * The root span of an entity, made of its first row: named as its machine, with owner, run, title and tags; and below
 * it the span that the start request names.
 * Owns which fields become attributes; what changes later is found in the record, not in the trace.
 */
import type { EntityAddress } from '../core/ids.ts';
import type { Observability } from '../core/observability.ts';
import type { ConversationRow, ProjectionRow } from '../core/machine/projection.ts';
import { rootSpanId, traceIdOf, workSpanId, type AttributeValue, type Span } from './span.ts';

/** Every machine counts its rows from here. */
const FIRST_SEQUENCE = 1;

/**
 * The root, then the named span if there is one; nothing for every row but the first of an entity. They end with the
 * start request's first row and not with the entity, which may live for weeks: their children come after them.
 */
export function rootSpansOf(row: ProjectionRow, now: number): readonly Span[] {
  const created = row.sequence === FIRST_SEQUENCE ? createdIn(row) : null;
  if (created === null) return [];
  const { address, attributes, createdAt, spanName } = created;
  const rootId = rootSpanId(address, { isNamed: spanName !== null });
  const common = {
    traceId: traceIdOf(address),
    startMs: createdAt,
    endMs: Math.max(createdAt, now),
    errorCode: null,
  };
  const own = { [`parley.${address.machine}_id`]: address.id };
  const root: Span = {
    ...common,
    spanId: rootId,
    parentSpanId: null,
    name: address.machine,
    attributes: present({ ...own, ...attributes }),
  };
  if (spanName === null) return [root];
  const spanId = workSpanId(address);
  return [root, { ...common, spanId, parentSpanId: rootId, name: spanName, attributes: own }];
}

interface Created {
  readonly address: EntityAddress;
  readonly createdAt: number;
  readonly spanName: string | null;
  readonly attributes: Readonly<Record<string, AttributeValue | null>>;
}

function createdIn(row: ProjectionRow): Created | null {
  switch (row.table) {
    case 'conversation':
      return {
        ...created('conversation', row.conversationId, row),
        spanName: row.observability?.spanName ?? null,
        attributes: { ...ofConversation(row), ...told(row.observability) },
      };
    case 'sandbox':
      return { ...created('sandbox', row.sandboxId, row), attributes: { 'parley.owner': row.userId } };
    case 'run':
      return { ...created('run', row.runId, row), attributes: { 'parley.run_name': row.name } };
    case 'run_item':
      return null;
  }
}

function created(
  machine: EntityAddress['machine'],
  id: EntityAddress['id'],
  { createdAt }: { readonly createdAt: number },
): Omit<Created, 'attributes'> {
  return { address: { machine, id }, createdAt, spanName: null };
}

/** OpenTelemetry has no attributes of a trace: what is said about the whole of it stands on its root. */
function told(observability: Observability | undefined): Created['attributes'] {
  if (observability === undefined) return {};
  const { tags, metadata } = observability;
  const pairs = Object.entries(metadata).map(([key, value]) => [
    `parley.observability_metadata.${key}`,
    value,
  ]);
  return {
    ...(tags.length === 0 ? {} : { 'parley.observability_tags': tags }),
    ...(Object.fromEntries(pairs) as Observability['metadata']),
  };
}

function ofConversation(row: ConversationRow): Created['attributes'] {
  const tags = Object.entries(row.tags).map(([name, value]) => [`parley.tag.${name}`, value]);
  return {
    'parley.owner': row.userId,
    'parley.run_id': row.runId,
    'parley.key': row.key,
    'parley.title': row.title,
    'parley.repository': row.selectedRepository,
    'parley.model': row.model,
    ...(Object.fromEntries(tags) as Record<string, string>),
  };
}

function present(attributes: Created['attributes']): Span['attributes'] {
  return Object.fromEntries(
    Object.entries(attributes).filter((entry): entry is [string, AttributeValue] => entry[1] !== null),
  );
}
