/**
 * A run with an agent of its own: prompts it, follows what it does, and ends when it has finished, waits, is stopped or
 * gives up.
 * Owns what a turn's news mean for the conversation; hooks, limits and endings are those of the reference's loop.
 */
import { failAction } from '../loop/action-step.ts';
import type { LoopContext } from '../loop/loop-context.ts';
import { detectStuck, endFailed, endPaused, endWithError, forbiddenAtStart, mustGoOn } from '../loop/loop.ts';
import { pendingActions } from '../conversation/turns.ts';
import { AcpError } from './acp-agent.ts';
import type { AcpSession } from './acp-session.ts';
import type { AcpTurn } from './acp-turn.ts';
import { askKey } from './tool-calls.ts';

type RunEnd = 'turn_over' | 'ended';

export async function runAcpLoop(
  session: AcpSession,
  context: LoopContext,
  options: { readonly approved: boolean },
): Promise<void> {
  const { conversation, control, signal, activity } = context;
  try {
    if (session.turn === null && (await forbiddenAtStart(context))) return;
    if (options.approved && session.turn?.isWaiting !== true) approveAnew(session, context);
    await activity.during(() => session.open());
    signal.throwIfAborted();
    let turn = session.turn;
    if (options.approved) turn?.approveAll();
    for (;;) {
      control.rearmed = false;
      turn ??= session.prompt();
      if ((await follow(session, turn, context)) === 'ended') return;
      turn = null;
      if (await mustGoOn(context)) continue;
      signal.throwIfAborted();
      if (control.pauseRequested) return endPaused(context);
      if (session.hasUnseen()) continue;
      conversation.setStatus('finished');
      return;
    }
  } catch (error) {
    // A server that stops does not wait for the agent; what its program still sends is not recorded.
    if (control.abortedBy === 'server' || control.abortedBy === 'deletion') void session.dispose();
    else if (session.turn !== null) await session.cancel(session.turn);
    endAsError(context, error);
  }
}

/** Until the turn is over or the run has ended before it. @throws AcpError it ended badly */
async function follow(session: AcpSession, turn: AcpTurn, context: LoopContext): Promise<RunEnd> {
  const { conversation, control, signal, activity, log } = context;
  const { max_iterations: iterationsMax } = conversation.meta;
  for (;;) {
    const news = await activity.during(() => turn.next(signal));
    switch (news.kind) {
      case 'failed':
        throw news.error;
      case 'ended':
        await turn.ended;
        return overBy(context, news.stopReason);
      case 'asked':
        if (!turn.isWaiting) break;
        conversation.setStatus('waiting_for_confirmation');
        return 'ended';
      case 'recorded': {
        if (session.steps >= iterationsMax) {
          await session.cancel(turn);
          endWithError(context, {
            code: 'MaxIterationsReached',
            detail: `Cannot go on: the run has taken ${iterationsMax} steps`,
            classification: { kind: 'config', retryable: true, user_action: 'retry' },
          });
          return 'ended';
        }
        const pattern = detectStuck(context);
        if (pattern !== null) {
          log('warning', 'agent is stuck', { conversation_id: conversation.id, pattern });
          await session.cancel(turn);
          conversation.setStatus('stuck');
          return 'ended';
        }
        if (!control.pauseRequested) break;
        await session.cancel(turn);
        endPaused(context);
        return 'ended';
      }
      default:
        return news satisfies never;
    }
  }
}

function overBy(context: LoopContext, stopReason: string): RunEnd {
  switch (stopReason) {
    case 'end_turn':
      return 'turn_over';
    case 'max_turn_requests':
      endWithError(context, {
        code: 'MaxIterationsReached',
        detail: 'Cannot go on: the agent has taken all steps that it allows itself',
        classification: { kind: 'config', retryable: true, user_action: 'retry' },
      });
      return 'ended';
    case 'max_tokens':
      throw new AcpError(
        'AgentOutputError',
        'The agent stopped: its model has said all that it may in one answer',
      );
    case 'refusal':
      throw new AcpError('AgentRefusedError', 'The agent refused to go on');
    default:
      throw new AcpError('AgentStoppedError', `The agent stopped by itself: ${stopReason}`);
  }
}

/**
 * A program that has ended cannot be answered: the agent is prompted to do what was approved, and its request for it
 * needs no second approval.
 */
function approveAnew(session: AcpSession, context: LoopContext): void {
  const { conversation } = context;
  for (const event of pendingActions(conversation.log.all())) {
    session.note(
      `This was approved, and not done before you were stopped: ${event.summary ?? event.tool_name}. Do it now.`,
      askKey(event),
    );
    failAction(
      conversation,
      event,
      'The agent was stopped before it could do this, and is told to do it now.',
      {
        ...{ kind: 'transient', retryable: true, user_action: 'none' },
      },
    );
  }
}

function endAsError(context: LoopContext, error: unknown): void {
  if (context.signal.aborted || !(error instanceof AcpError)) return endFailed(context, error);
  endWithError(context, {
    code: error.code,
    detail: error.message,
    classification: error.isConfiguration
      ? { kind: 'config', retryable: false, user_action: 'settings' }
      : { kind: 'transient', retryable: true, user_action: 'retry' },
  });
}
