/**
 * A store with conversations of one user and events of each.
 * Owns the rows: one conversation in fifty has the tag that is searched for.
 */
import { conversationId, sandboxId, userId, type ConversationId } from '../../core/ids.ts';
import type { ConversationRow } from '../../core/machine/projection.ts';
import type { Store } from '../../store/open-store.ts';

export const USER = userId('bench');
export const TAG = { key: 'team', value: 'blue' } as const;
export const TAGGED_EACH = 50;
const CHUNK = 500;
const SANDBOX = sandboxId('5'.repeat(32));
export const START = 1_784_900_000_000;

export function conversationNumber(index: number): ConversationId {
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

export function rowOf(index: number): ConversationRow {
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

export function eventOf(conversation: number, index: number) {
  return {
    id: `e-${conversation}-${index}`,
    timestamp: new Date(START + index).toISOString().replace('Z', '000'),
    kind: 'MessageEvent',
    source: 'agent',
    text: 'a line of what an agent says '.repeat(8),
  };
}
