/**
 * A store with conversations of one user and events of each.
 * Owns the rows: one conversation in fifty has the tag that is searched for.
 */
import pg from 'pg';
import { conversationId, sandboxId, userId, type ConversationId } from '../../core/ids.ts';
import type { ConversationRow } from '../../core/machine/projection.ts';
import type { Store } from '../../store/open-store.ts';

export const USER = userId('bench');
export const TAG = { key: 'team', value: 'blue' } as const;
const TAGGED_EACH = 50;
const CHUNK = 500;
const SANDBOX = sandboxId('5'.repeat(32));
const START = 1_784_900_000_000;

function conversationNumber(index: number): ConversationId {
  return conversationId(index.toString(16).padStart(32, '0'));
}

export async function fill(
  store: Store,
  { conversations, eventsEach }: { readonly conversations: number; readonly eventsEach: number },
): Promise<void> {
  for (let from = 0; from < conversations; from += CHUNK) {
    const indices = Array.from({ length: Math.min(CHUNK, conversations - from) }, (_, n) => from + n);
    await store.records.project(indices.map(rowOf));
    await Promise.all(
      indices.map((index) =>
        store.events.append(
          conversationNumber(index),
          Array.from({ length: eventsEach }, (_, n) => eventOf(index, n)),
          START + index,
        ),
      ),
    );
  }
}

function rowOf(index: number): ConversationRow {
  return {
    table: 'conversation',
    conversationId: conversationNumber(index),
    userId: USER,
    generation: 1,
    sequence: 1,
    runId: null,
    key: null,
    sandboxId: SANDBOX,
    sandboxStatus: 'PAUSED',
    startTask: 'READY',
    startTaskDetail: null,
    executionStatus: 'FINISHED',
    executionStatusAt: START + index,
    queuedMessages: 0,
    selectedRepository: 'acme/web',
    selectedBranch: 'main',
    model: 'coder',
    title: `Conversation ${index}`,
    tags: { number: String(index), ...(index % TAGGED_EACH === 0 ? { [TAG.key]: TAG.value } : {}) },
    createdAt: START + index,
    updatedAt: START + index,
  };
}

function eventOf(conversation: number, index: number) {
  return {
    id: `e-${conversation}-${index}`,
    timestamp: new Date(START + index).toISOString().replace('Z', '000'),
    kind: 'MessageEvent',
    source: 'agent',
    text: 'a line of what an agent says '.repeat(8),
  };
}

/** Stands for what differs from row to row. */
const CONVERSATION_ID = conversationNumber(0);
const ROWS_AT_ONCE = 5_000;

/** The same rows, made by a PostgreSQL server itself: millions of events in minutes. Bodies are made from one row. */
export async function fillPostgres(
  url: string,
  { conversations, eventsEach }: { readonly conversations: number; readonly eventsEach: number },
): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  for (let from = 0; from < conversations; from += ROWS_AT_ONCE) {
    const last = Math.min(from + ROWS_AT_ONCE, conversations) - 1;
    await client.query(CONVERSATIONS, [from, last, JSON.stringify(rowOf(0)), USER, START, CONVERSATION_ID]);
    await client.query(TAGS, [from, last, USER, START, TAG.key, TAG.value, TAGGED_EACH]);
    await client.query(TRANSCRIPTS, [from, last, eventsEach, START]);
    await client.query(EVENTS, [from, last, eventsEach, JSON.stringify(eventOf(0, 0)), START]);
  }
  // What a server does by itself after a while, and what its plans rest on.
  await client.query('vacuum analyze');
  await client.end();
}

const ID = `lpad(to_hex(c), 32, '0')`;

const CONVERSATIONS = `insert into conversation (conversation_id, user_id, run_id, sandbox_id, at_work, created_at,
    updated_at, title, sandbox_status, execution_status, generation, sequence, body)
  select ${ID}, $4, null, '${'5'.repeat(32)}', 0, $5::bigint + c, $5::bigint + c, 'Conversation ' || c, 'PAUSED', 'FINISHED', 1, 1,
    replace(replace($3, $6, ${ID}), 'Conversation 0', 'Conversation ' || c)
  from generate_series($1::bigint, $2::bigint) c`;

const TAGS = `insert into conversation_tag (conversation_id, user_id, key, value, created_at)
  select ${ID}, $3, 'number', c::text, $4::bigint + c from generate_series($1::bigint, $2::bigint) c
  union all
  select ${ID}, $3, $5, $6, $4::bigint + c from generate_series($1::bigint, $2::bigint) c where c % $7::bigint = 0`;

const TRANSCRIPTS = `insert into transcript (conversation_id, last_sequence, last_received_at)
  select ${ID}, $3::bigint, $4::bigint + c from generate_series($1::bigint, $2::bigint) c`;

const EVENTS = `insert into event (conversation_id, sequence, event_id, timestamp, kind, body)
  select ${ID}, n + 1, 'e-' || c || '-' || n, to_char(to_timestamp($5::bigint / 1000), 'YYYY-MM-DD"T"HH24:MI:SS'), 'MessageEvent',
    replace($4, 'e-0-0', 'e-' || c || '-' || n)
  from generate_series($1::bigint, $2::bigint) c, generate_series(0, $3::bigint - 1) n`;
