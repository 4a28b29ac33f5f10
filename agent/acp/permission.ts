/**
 * What becomes of an agent's request for permission: hooks may forbid it, the policy of the conversation lets it pass
 * or has it wait for the user.
 * Owns that order; which answer goes to what waits is the turn's part.
 */
import { rejectAction } from '../loop/action-step.ts';
import { needsConfirmation } from '../loop/confirmation.ts';
import type { Conversation } from '../conversation/conversation.ts';
import { runHooks } from '../hooks/run-hooks.ts';
import { ACP_ANSWER_MS } from '../limits.ts';
import { allowed, refused, type AcpTurn, type PermissionOption, type PermissionOutcome } from './acp-turn.ts';
import { askKey } from './tool-calls.ts';
import type { UpdateRecorder } from './update-recorder.ts';
import type { ToolCallChange } from './wire-updates.ts';

interface Asked {
  readonly conversation: Conversation;
  readonly secrets: () => Readonly<Record<string, string>>;
  readonly turn: AcpTurn;
  readonly recorder: UpdateRecorder;
  /** Approved before a stop: the same request is not put to the user again. */
  readonly approved: Set<string>;
}

/** Resolves once it is decided, which may be after a user's answer. */
export async function decidePermission(
  { conversation, secrets, turn, recorder, approved }: Asked,
  change: ToolCallChange,
  options: readonly PermissionOption[],
): Promise<PermissionOutcome> {
  if (turn.hasEnded || turn.isCancelled) return { outcome: 'cancelled' };
  const { action, call } = recorder.asked(change);
  const hook = { toolName: action.tool_name, toolInput: action.action, actionId: action.id };
  const signal = AbortSignal.timeout(ACP_ANSWER_MS);
  const forbidden = await runHooks(conversation, { event: 'pre_tool_use', ...hook }, { secrets, signal });
  if (forbidden !== null) {
    recorder.settled(call.id);
    rejectAction(conversation, action, { reason: forbidden, by: 'hook' });
    return refused(options);
  }
  const { confirmation_policy: policy, security_analyzer: analyzer } = conversation.meta;
  const isAsked = needsConfirmation(policy, analyzer === null ? 'UNKNOWN' : action.security_risk);
  if (!isAsked || approved.delete(askKey(action))) return allowed(options);
  return await turn.hold({ call, actionId: action.id, options });
}
