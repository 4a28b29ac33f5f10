/**
 * The root span of an entity, made of its first row: named as its machine, with owner, run, title and tags.
 * Owns which fields become attributes; what changes later is found in the record, not in the trace.
 */
import type { EntityAddress } from '../../core/ids.ts';
import type { ConversationRow, ProjectionRow } from '../../core/projection.ts';
import { rootSpanId, traceIdOf, type AttributeValue, type Span } from './span.ts';

/** Every machine counts its rows from here. */
const FIRST_SEQUENCE = 1;

/**
 * Null for every row but the first of an entity. The span ends with the start request's first row and not with the
 * entity, which may live for weeks: its children come after it.
 */
export function rootSpanOf(row: ProjectionRow, now: number): Span | null {
  const born = row.sequence === FIRST_SEQUENCE ? birthIn(row) : null;
  if (born === null) return null;
  const { address, attributes, createdAt } = born;
  return {
    traceId: traceIdOf(address),
    spanId: rootSpanId(address),
    parentSpanId: null,
    name: address.machine,
    startMs: createdAt,
    endMs: Math.max(createdAt, now),
    attributes: present({ [`parley.${address.machine}_id`]: address.id, ...attributes }),
    errorCode: null,
  };
}

interface Born {
  readonly address: EntityAddress;
  readonly createdAt: number;
  readonly attributes: Readonly<Record<string, AttributeValue | null>>;
}

function birthIn(row: ProjectionRow): Born | null {
  switch (row.table) {
    case 'conversation':
      return { ...born('conversation', row.conversationId, row), attributes: ofConversation(row) };
    case 'sandbox':
      return { ...born('sandbox', row.sandboxId, row), attributes: { 'parley.owner': row.userId } };
    case 'run':
      return { ...born('run', row.runId, row), attributes: { 'parley.run_name': row.name } };
    case 'run_item':
      return null;
  }
}

function born(
  machine: EntityAddress['machine'],
  id: EntityAddress['id'],
  { createdAt }: { readonly createdAt: number },
): Omit<Born, 'attributes'> {
  return { address: { machine, id }, createdAt };
}

function ofConversation(row: ConversationRow): Born['attributes'] {
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

function present(attributes: Born['attributes']): Span['attributes'] {
  return Object.fromEntries(
    Object.entries(attributes).filter((entry): entry is [string, AttributeValue] => entry[1] !== null),
  );
}
