/**
 * What has happened so far in a play, counted: pauses by reason, resumes, sandboxes, kept results.
 * Owns the counting of steps; must not influence them.
 */
import type { RunState } from '../../core/run/state.ts';
import type { SandboxState } from '../../core/sandbox/state.ts';
import { isReleaseReason, type ReleaseReason } from '../../core/status.ts';
import type { SimulationStep } from '../simulation-options.ts';

export class Tally {
  readonly paused: Record<ReleaseReason, number> = { idle: 0, session_limit: 0, user: 0, capacity: 0 };
  resumed = 0;
  sandboxes = 0;
  /** By index: the attempt whose results were kept. */
  private readonly collected = new Map<number, number>();
  private run: RunState | null = null;

  add({ address, event, before, after }: SimulationStep): void {
    if (address.machine === 'sandbox') this.addSandbox(before as SandboxState | null, after as SandboxState);
    if (address.machine !== 'run') return;
    this.run = after as RunState;
    const past = (before as RunState | null)?.items;
    // An answer that nobody awaited changes no item.
    if (event.type !== 'itemCollected' || past?.[event.index] === this.run.items[event.index]) return;
    this.collected.set(event.index, past?.[event.index]?.attempt ?? 0);
  }

  /** Of the present attempt. */
  isCollected(index: number): boolean {
    const attempt = this.collected.get(index);
    return attempt !== undefined && attempt === this.run?.items[index]?.attempt;
  }

  private addSandbox(before: SandboxState | null, after: SandboxState): void {
    if (before === null) this.sandboxes += 1;
    if (before?.phase === 'resuming' && after.phase === 'running') this.resumed += 1;
    const { pauseReason } = after;
    if (pauseReason === null || pauseReason === before?.pauseReason) return;
    if (isReleaseReason(pauseReason)) this.paused[pauseReason] += 1;
  }
}
