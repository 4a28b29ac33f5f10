/**
 * The conversations of a run as reconciliation wants them: one for every attempt of every item.
 * Owns when a conversation could have caused a row that no response id joins; must not join anything.
 */
import type { ConversationId, RunId } from '../../core/ids.ts';
import type { Plan } from '../../core/plan.ts';
import type { RunItemRow } from '../../core/projection.ts';
import type { ReconcileConversation } from '../../core/reconcile-result.ts';
import type { GatewayRow, SpendRow } from '../../core/spend.ts';
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
export function attemptsOf(world: World, runId: RunId, items: readonly RunItemRow[]): readonly Attempt[] {
  return items.flatMap(({ key, attempt: last, endedAt }) =>
    Array.from({ length: last }, (_, index) => {
      const attempt = index + 1;
      const conversationId = world.keys.conversationIdOf({ runId, key, attempt });
      const isLast = attempt === last;
      return { conversationId, key, attempt, endedAt: isLast ? endedAt : null, isLast };
    }),
  );
}

export interface ConversationFacts {
  readonly plan: Plan;
  readonly attempts: readonly Attempt[];
  readonly sessions: ReadonlyMap<string, readonly SpendRow[]>;
  readonly gatewayRows: readonly GatewayRow[];
}

/**
 * Every call went through our proxy, so the only rows to look for by time are those of calls that no row names:
 * with all of its calls joined, a conversation is no candidate, and rows of other work are not laid at its door.
 */
export function reconcileConversations(facts: ConversationFacts): readonly ReconcileConversation[] {
  const billed = new Set(facts.gatewayRows.map(({ responseId }) => responseId));
  const items = new Map(facts.plan.items.map((item) => [item.key, item]));
  return facts.attempts.map(({ conversationId, key, endedAt, isLast }) => {
    const calls = facts.sessions.get(conversationId) ?? [];
    const open = calls.filter(
      (call) => mayBeBilled(call) && !(call.responseId !== null && billed.has(call.responseId)),
    );
    return {
      conversationId,
      key,
      tags: items.get(key)?.tags ?? {},
      modelNames: [...new Set(open.flatMap((call) => [call.modelName, call.upstreamModel]))],
      windows: open.map(windowOf),
      endedAt: isLast ? endedAt : lastEndOf(calls),
      attemptIds: [],
    };
  });
}

/** An attempt that was given up has ended with its last call at the latest. */
function lastEndOf(calls: readonly SpendRow[]): number {
  return calls.reduce((last, call) => Math.max(last, windowOf(call).endedAt), -Infinity);
}

/** What a gateway refused it does not bill. */
function mayBeBilled({ state, httpStatus }: SpendRow): boolean {
  return state !== 'failed' || httpStatus === null || httpStatus < 400;
}

/** The end of an interrupted call is when somebody noticed, which may be days later. */
function windowOf({ state, startedAt, endedAt }: SpendRow): { startedAt: number; endedAt: number } {
  const isEndKnown = endedAt !== null && state !== 'interrupted' && state !== 'open';
  return { startedAt, endedAt: isEndKnown ? endedAt : startedAt };
}
