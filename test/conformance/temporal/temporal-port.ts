/**
 * Model and Temporal joined: what the model does and when, in one total order, on the server's clock.
 * Owns the order; must not know how an answer reaches a workflow, or when time moves.
 */
import type { ActivityCommand, MachineEvent } from '../../../core/command.ts';
import type { EntityAddress } from '../../../core/ids.ts';
import type { Notifier } from '../../../ports/notifier.ts';
import { EventHeap, type HeapEntry } from '../../../simulator/event-heap.ts';
import type { ModelPort } from '../../../simulator/model-port.ts';
import type { World } from '../../../simulator/models/world.ts';

interface Due extends HeapEntry {
  readonly commandId: string | null;
  readonly run: () => void;
}

export interface Answer {
  readonly commandId: string;
  readonly event: MachineEvent | null;
}

export class TemporalPort implements ModelPort {
  /** What the model delivers and was not acknowledged yet. */
  deliveries = 0;
  world: World | null = null;
  notifier: Notifier | null = null;
  private instant: number;
  private sequence = 0;
  private readonly heap = new EventHeap<Due>();
  /** Ordered by a machine and not yet begun by the model. */
  private ordered: ActivityCommand[] = [];
  private readonly out = new Set<string>();
  private answers: Answer[] = [];
  private delivered: Promise<void> = Promise.resolve();
  private readonly onProblem: (problem: unknown) => void;

  constructor(startAt: number, onProblem: (problem: unknown) => void) {
    this.instant = startAt;
    this.onProblem = onProblem;
  }

  /** The instant of what happens now: that of the plan, however late the server came to it, so that nobody drifts. */
  now(): number {
    return this.instant;
  }

  later(commandId: string | null, at: number, run: () => void): void {
    this.sequence += 1;
    this.heap.push({ at: Math.max(at, this.instant), priority: 0, sequence: this.sequence, commandId, run });
  }

  answer({ id }: ActivityCommand, event: MachineEvent | null): void {
    if (this.out.delete(id)) this.answers.push({ commandId: id, event });
  }

  deliver(to: EntityAddress, event: MachineEvent): void {
    this.deliveries += 1;
    this.delivered = this.delivered
      .then(() => this.notifier?.deliver({ to, event } as Parameters<Notifier['deliver']>[0]))
      .catch(this.onProblem)
      .then(() => void (this.deliveries -= 1));
  }

  order(command: ActivityCommand): void {
    this.ordered.push(command);
  }

  cancel(commandId: string): void {
    this.ordered = this.ordered.filter(({ id }) => id !== commandId);
    this.answers = this.answers.filter((answer) => answer.commandId !== commandId);
    this.out.delete(commandId);
  }

  /** Instant of what the model does next; Infinity when it waits to be told. */
  get nextAt(): number {
    return this.heap.peek()?.at ?? Infinity;
  }

  moveTo(at: number): void {
    this.instant = Math.max(this.instant, at);
  }

  /** In the order in which machines gave them; true when there were any. */
  beginOrdered(): boolean {
    const begun = this.ordered.splice(0);
    for (const command of begun) {
      this.out.add(command.id);
      this.world?.begin(command);
    }
    return begun.length > 0;
  }

  takeAnswer(): Answer | null {
    return this.answers.shift() ?? null;
  }

  /** Does the next thing that is due; true when there was one. */
  fire(): boolean {
    const due = this.heap.peek();
    if (due === undefined || due.at > this.instant) return false;
    this.heap.pop();
    if (due.commandId === null || this.out.has(due.commandId)) due.run();
    return true;
  }
}
