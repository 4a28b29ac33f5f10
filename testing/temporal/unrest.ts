/**
 * Whether everything is settled: no envelope under way, no work in a workflow, every command waiting for the model.
 * Owns that definition, from what workflows and client report; must not wait.
 */
import type { HeldTries } from './held-tries.ts';
import type { EnvelopesInFlight } from './envelopes-in-flight.ts';
import type { Note } from './observed/observer-sinks.ts';

interface LatestNote extends Note {
  readonly runId: string;
}

export class Unrest {
  private readonly notes = new Map<string, LatestNote>();
  /** Signals that were handled, by workflow and run. */
  private readonly handled = new Map<string, Map<string, number>>();
  private readonly tries: HeldTries;

  constructor(tries: HeldTries) {
    this.tries = tries;
  }

  hear(workflowId: string, runId: string, note: Note): void {
    this.notes.set(workflowId, { ...note, runId });
    const runs = this.handled.get(workflowId) ?? new Map<string, number>();
    this.handled.set(workflowId, runs.set(runId, note.signals));
  }

  isOpen(workflowId: string): boolean {
    const note = this.notes.get(workflowId);
    return note !== undefined && note.end !== 'over';
  }

  /** Ids of the workflows that are known and have not ended. */
  get open(): readonly string[] {
    return [...this.notes.keys()].filter((workflowId) => this.isOpen(workflowId));
  }

  /** Runs so far. */
  get runs(): number {
    return [...this.handled.values()].reduce((sum, runs) => sum + runs.size, 0);
  }

  /** The first instant at which a timer of a workflow strikes; Infinity without one. */
  get nextTimerAt(): number {
    const open = [...this.notes.values()].filter(({ end }) => end === 'open');
    return Math.min(Infinity, ...open.flatMap(({ timers }) => timers));
  }

  /** What is not settled, in words; null when everything is. */
  find(
    { calls, taken, begun }: Pick<EnvelopesInFlight, 'calls' | 'taken' | 'begun'>,
    now: number,
  ): string | null {
    if (calls > 0) return 'envelopes are being sent';
    for (const [workflowId, runId] of begun)
      if (!this.handled.get(workflowId)?.has(runId)) return `${workflowId} has not begun again`;
    for (const workflowId of taken.keys())
      if (!this.notes.has(workflowId)) return `${workflowId} has not begun`;
    for (const [workflowId, note] of this.notes) {
      const found = this.findIn(note, now) ?? this.findUnhandled(workflowId, note, taken);
      if (found !== null) return `${workflowId} ${found}`;
    }
    return null;
  }

  private findIn(note: LatestNote, now: number): string | null {
    if (note.end === 'over') return null;
    if (note.end !== 'open') return 'is being continued as new';
    const waiting = this.tries.batchesOf(note.runId);
    if (note.locals > waiting) return 'has a local batch under way';
    const away = note.longs.find(
      (id) => !this.tries.isHeldBy(id, note.runId) && !(waiting > 0 && this.tries.isOver(id)),
    );
    if (away !== undefined) return `waits for a try of ${away}`;
    // A local batch holds its workflow: what comes meanwhile, answers too, is for the next task.
    if (waiting > 0) return null;
    return note.timers.some((at) => at <= now) ? 'has a timer that strikes' : null;
  }

  private findUnhandled(
    workflowId: string,
    { end, runId }: LatestNote,
    taken: ReadonlyMap<string, number>,
  ): string | null {
    if (end === 'over' || this.tries.batchesOf(runId) > 0) return null;
    const handled = [...(this.handled.get(workflowId)?.values() ?? [])].reduce(
      (sum, count) => sum + count,
      0,
    );
    return handled === (taken.get(workflowId) ?? 0) ? null : 'has not handled every signal';
  }
}
