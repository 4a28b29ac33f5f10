/**
 * Tries of commands that wait for their end: the answer, or an order to come back later.
 * Owns which tries wait; a try that waits holds the server's clock, so none waits for longer than it takes to settle.
 */
import type { ActivityCommand, MachineEvent } from '../../core/machine/command.ts';

export type Outcome =
  { readonly kind: 'over'; readonly event: MachineEvent | null } | { readonly kind: 'again' };

const AGAIN: Outcome = { kind: 'again' };

/** Where a try runs. */
export interface Place {
  readonly runId: string;
  /** Of its activity, within the run. */
  readonly activityId: string;
  /** The local batch that it belongs to; null for an activity of its own. */
  readonly batch: string | null;
}

interface Try extends Place {
  readonly resolve: (outcome: Outcome) => void;
}

export class HeldTries {
  private readonly tries = new Map<string, Try>();
  /** Answers that were given: a try that comes twice ends twice in the same way. */
  private readonly given = new Map<string, MachineEvent | null>();
  private holdsNone = false;

  hold(command: ActivityCommand, place: Place, signal: AbortSignal): Promise<Outcome> {
    const event = this.given.get(command.id);
    if (event !== undefined) return Promise.resolve({ kind: 'over', event });
    if (this.holdsNone) return Promise.resolve(AGAIN);
    this.tries.get(command.id)?.resolve(AGAIN);
    return new Promise((resolve) => {
      this.tries.set(command.id, { ...place, resolve });
      signal.addEventListener('abort', () => resolve(AGAIN), { once: true });
    });
  }

  /** Its answer was given, or it is not awaited any more. */
  isOver(commandId: string): boolean {
    return this.holdsNone || this.given.has(commandId);
  }

  isHeldBy(commandId: string, runId: string): boolean {
    const held = this.tries.get(commandId);
    return held !== undefined && held.batch === null && held.runId === runId;
  }

  /** Local batches of a run that cannot end yet. */
  batchesOf(runId: string): number {
    const batches = [...this.tries.values()].filter((held) => held.runId === runId);
    return new Set(batches.flatMap(({ batch }) => (batch === null ? [] : [batch]))).size;
  }

  get areInBatches(): boolean {
    return [...this.tries.values()].some(({ batch }) => batch !== null);
  }

  /** A cancelled try goes on waiting, and ends the next time it comes: by then the server knows why. */
  cancel(commandId: string): void {
    this.given.set(commandId, null);
  }

  end(commandId: string, event: MachineEvent | null): void {
    this.given.set(commandId, event);
    this.tries.get(commandId)?.resolve({ kind: 'over', event });
    this.tries.delete(commandId);
  }

  /** Those in local batches go on in activities of their own. */
  sendOutOfBatches(): void {
    this.sendAway(({ batch }) => batch !== null);
  }

  sendAllAway(): void {
    this.sendAway(() => true);
  }

  /** The play is over: whatever comes is sent away. */
  holdNone(): void {
    this.holdsNone = true;
    this.sendAllAway();
  }

  /**
   * A run that ends needs them no more: they end without an answer, and the next run has its own. Returns those that
   * were held.
   */
  endAllOf(runId: string): readonly Place[] {
    return this.sendAway((held) => held.runId === runId, { kind: 'over', event: null });
  }

  private sendAway(who: (held: Try) => boolean, outcome: Outcome = AGAIN): readonly Place[] {
    const away = [...this.tries].filter(([, held]) => who(held));
    for (const [commandId, { resolve }] of away) {
      this.tries.delete(commandId);
      resolve(outcome);
    }
    return away.map(([, place]) => place);
  }
}
