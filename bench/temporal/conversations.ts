/**
 * The conversations that the parts start: who they are and how they begin, the same for every way of doing the work.
 * Owns ids and births; must not deliver anything.
 */
import type { ConversationSpec } from '../../core/conversation/state.ts';
import { conversationId, userId } from '../../core/ids.ts';
import { specOutsideRun } from '../../simulator/models/spec-outside-run.ts';
import { conversationIdNamed } from '../../simulator/models/derived-id.ts';
import type { Delivery } from '../../ports/notifier.ts';

/** With one message to begin with, in a sandbox of its own. */
export function specOf(name: string, change: Partial<ConversationSpec> = {}): ConversationSpec {
  return specOutsideRun({
    conversationId: conversationId(conversationIdNamed(name)),
    userId: userId('bench'),
    repository: 'bench/repository',
    model: 'bench',
    strategy: 'NO_GROUPING',
    initialMessage: { messageId: `${name}/initial`, text: 'Do it', run: true },
    ...change,
  });
}

export function started(spec: ConversationSpec): Delivery {
  const to = { machine: 'conversation', id: spec.conversationId } as const;
  return { to, event: { type: 'started', watcher: null, spec } };
}

/** Runs `one` for each, so many at a time: when one has ended, the next begins. */
export async function eachAtOnce<Item>(
  items: readonly Item[],
  atOnce: number,
  one: (item: Item) => Promise<void>,
): Promise<void> {
  const left = items.values();
  const lane = async (): Promise<void> => {
    for (const item of left) await one(item);
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
}
