/**
 * The conversations of a run as reconciliation wants them: one for every attempt of every item.
 * Owns which conversations they are; must not join anything.
 */
import type { ConversationId, RunId } from '../../core/ids.ts';
import type { Plan } from '../../core/plan/plan.ts';
import type { RunItemRow } from '../../core/machine/projection.ts';
import type { ReconcileConversation } from '../../core/reconcile/reconcile-result.ts';
import type { World } from '../world.ts';

export interface Attempt {
  readonly conversationId: ConversationId;
  readonly key: string;
  /** Counts from 1. */
  readonly attempt: number;
  /** When the conversation ended; null while it goes on, and for an attempt that another one followed. */
  readonly endedAt: number | null;
  readonly isLast: boolean;
}

/** Every attempt that was begun, in the order of the plan. */
export function attemptsOf(
  world: Pick<World, 'keys'>,
  runId: RunId,
  items: readonly RunItemRow[],
): readonly Attempt[] {
  return items.flatMap(({ key, attempt: last, endedAt }) =>
    Array.from({ length: last }, (_, index) => {
      const attempt = index + 1;
      const conversationId = world.keys.conversationIdOf({ runId, key, attempt });
      const isLast = attempt === last;
      return { conversationId, key, attempt, endedAt: isLast ? endedAt : null, isLast };
    }),
  );
}

export function reconcileConversations(
  plan: Plan,
  attempts: readonly Attempt[],
): readonly ReconcileConversation[] {
  const items = new Map(plan.items.map((item) => [item.key, item]));
  return attempts.map(({ conversationId, key, endedAt, isLast }) => ({
    conversationId,
    key,
    tags: items.get(key)?.tags ?? {},
    // An attempt that was given up ended with its last call at the latest: the calls show when.
    ...(isLast ? { endedAt } : {}),
    attemptIds: [],
  }));
}
