/**
 * One conversation of a plan and one sandbox, as expectations see them.
 * Owns the choice of fields; must not compute what a machine did not.
 */
import type { ConversationState } from '../../core/conversation/state.ts';
import { NANO_PER_USD } from '../../core/money/money.ts';
import type { PlanItem } from '../../core/plan/plan.ts';
import type { ItemPhase } from '../../core/machine/projection.ts';
import type { RunItem } from '../../core/run/state.ts';
import { transitionOf, type SandboxState } from '../../core/sandbox/state.ts';
import type { ConversationSeen, SandboxSeen } from '../../dsl/expression/observation.ts';

interface Present {
  /** Null before the run began. */
  readonly item: RunItem | null;
  readonly conversation: ConversationState | null;
  readonly sandbox: SandboxState | null;
  readonly collected: boolean;
}

export function conversationSeen(
  planned: PlanItem,
  { item, conversation, sandbox, collected }: Present,
): ConversationSeen {
  const ended = item?.phase === 'ended';
  return {
    key: planned.key,
    id: item?.conversationId ?? '',
    phase: phaseWord(item?.phase ?? 'waiting'),
    status: sandbox?.status ?? '',
    pause_reason: sandbox?.pauseReason ?? '',
    execution_status: conversation?.executionStatus ?? '',
    outcome: ended ? (item.ending?.outcome ?? '') : '',
    terminal: ended,
    collected,
    attempts: BigInt(item?.attempt ?? 0),
    cost_usd: (item?.costNanoUsd ?? 0) / NANO_PER_USD,
    repo: planned.repository?.name ?? '',
    model: planned.model,
    tags: planned.tags,
    sandbox: item?.sandboxId ?? '',
  };
}

function phaseWord(phase: ItemPhase): string {
  return phase === 'waiting' ? 'queued' : phase;
}

export function sandboxSeen(state: SandboxState, now: number): SandboxSeen {
  const { sandboxId, status, pauseReason, generation, attached, sessionStartedAt, releasedAt } = state;
  const isGone = status === 'MISSING';
  return {
    id: sandboxId,
    status,
    pause_reason: pauseReason ?? '',
    transition: transitionOf(state) ?? '',
    generation: BigInt(generation),
    conversations: BigInt(Object.keys(attached).length),
    session_ms: isGone || sessionStartedAt === null ? 0 : now - sessionStartedAt,
    released_ms: isGone || releasedAt === null ? 0 : now - releasedAt,
  };
}
