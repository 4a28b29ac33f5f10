/**
 * R3: a run lets go only of sandboxes that are its own, and of none that anybody needs.
 * Owns the checks on orders to clean up, and the memory of what could not be collected.
 */
import { isInFlight, type RunState } from '../../core/run/state.ts';
import type { Moment, SafetyCheck } from './checker.ts';

export function cleanedUpWithCare(): SafetyCheck {
  const uncollected = new Set<string>();
  return ({ step }: Moment) => {
    const before = step.before as RunState | null;
    const after = step.after as RunState;
    const { event } = step;
    if (event.type === 'collectFailed' && after.rules.cleanup.onCollectFailure === 'keep') {
      const sandboxId = before?.items[event.index]?.sandboxId ?? null;
      if (sandboxId !== null) uncollected.add(keyOf(after, sandboxId));
    }
    if (event.type === 'attemptEnded' && event.isUncollected && event.sandboxId !== null)
      uncollected.add(keyOf(after, event.sandboxId));
    // One in which somebody is at work is the run's all the same, and may be asked again at once.
    if (event.type === 'sandboxCleanedUp' && !event.isOurs && event.isBusy !== true) {
      const asked = after.sandboxes.find(
        ({ sandboxId, state }) => sandboxId === event.sandboxId && state === 'asked',
      );
      if (asked !== undefined)
        return `sandbox ${event.sandboxId} is left to others, and it waits for its end`;
    }
    return undone(step) ?? cutOff(step, uncollected);
  };
}

/** By run: what one run keeps is not another's to know; a sandbox of both is left alone when it is claimed (D11). */
function keyOf({ runId }: RunState, sandboxId: string): string {
  return `${runId} ${sandboxId}`;
}

/** What a user has paused comes back when its user wants it. */
function undone({ event, commands }: Moment['step']): string | null {
  if (event.type !== 'conversationNoticed' || event.conversation.pauseReason !== 'user') return null;
  const goesOn = commands.some(
    (command) => command.type === 'send' && command.event.type === 'continueRequested',
  );
  return goesOn
    ? `conversation ${event.conversation.conversationId} goes on, and its user has paused it`
    : null;
}

function cutOff({ commands, after }: Moment['step'], uncollected: ReadonlySet<string>): string | null {
  const run = after as RunState;
  const { rules, items } = run;
  for (const command of commands) {
    if (command.type !== 'cleanUpSandbox') continue;
    const { sandboxId } = command;
    // What is kept may be asked to rest while the run needs its slot: its files stay (D29).
    const rests = command.how === 'pause' && command.whileRunning === true;
    if (sandboxId === rules.explicitSandboxId || (rules.cleanup.sandbox === 'keep' && !rests))
      return `sandbox ${sandboxId} is cleaned up, and it is to be kept`;
    if (uncollected.has(keyOf(run, sandboxId)) && command.how === 'delete')
      return `sandbox ${sandboxId} is removed, and what it holds could not be collected`;
    const needed = items.find(
      (item) =>
        item.sandboxId === sandboxId &&
        (isInFlight(item) || (item.phase === 'ended' && item.ending?.outcome === 'waiting')),
    );
    if (needed !== undefined) return `sandbox ${sandboxId} is cleaned up, and item "${needed.key}" needs it`;
  }
  return null;
}
