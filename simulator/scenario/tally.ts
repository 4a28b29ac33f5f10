/**
 * What has happened so far in a play, counted: pauses by reason, resumes, sandboxes, kept results.
 * Owns the counting of steps; must not influence them.
 */
import type { ConversationState } from '../../core/conversation/state.ts';
import { itemAt, type RunState } from '../../core/run/state.ts';
import type { SandboxState } from '../../core/sandbox/state.ts';
import { isReleaseReason, type ReleaseReason } from '../../core/status.ts';
import type { SimulationStep } from '../simulation-options.ts';

export class Tally {
  readonly paused: Record<ReleaseReason, number> = { idle: 0, session_limit: 0, user: 0, capacity: 0 };
  resumed = 0;
  sandboxes = 0;
  /** Conversations outside the run, and those of them that did not come up. */
  arrived = 0;
  refused = 0;
  /** By index: the attempt whose results were kept. */
  private readonly collected = new Map<number, number>();
  private run: RunState | null = null;

  add({ address, event, before, after }: SimulationStep): void {
    if (address.machine === 'sandbox') this.addSandbox(before as SandboxState | null, after as SandboxState);
    if (address.machine === 'conversation')
      this.addConversation(before as ConversationState | null, after as ConversationState);
    if (address.machine === 'run') this.run = after as RunState;
    if (event.type !== 'itemCollected' || before === null) return;
    const past = itemAt(before as RunState, event.index);
    // An answer that was not awaited changes no item.
    if (past !== itemAt(after as RunState, event.index)) this.collected.set(event.index, past?.attempt ?? 0);
  }

  /** Of the present attempt. */
  isCollected(index: number): boolean {
    const attempt = this.collected.get(index);
    return attempt !== undefined && attempt === this.run?.items[index]?.attempt;
  }

  private addConversation(before: ConversationState | null, after: ConversationState): void {
    if (after.spec.runId !== null) return;
    if (before === null) this.arrived += 1;
    if (after.startTask === 'ERROR' && before?.startTask !== 'ERROR') this.refused += 1;
  }

  private addSandbox(before: SandboxState | null, after: SandboxState): void {
    if (before === null) this.sandboxes += 1;
    if (before?.phase === 'resuming' && after.phase === 'running') this.resumed += 1;
    const { pauseReason } = after;
    if (pauseReason === null || pauseReason === before?.pauseReason) return;
    if (isReleaseReason(pauseReason)) this.paused[pauseReason] += 1;
  }
}
