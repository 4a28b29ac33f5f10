/**
 * Long commands under way: each an activity of the queue of its resource.
 * Owns their cancellation; answers go to the listener, one for each command at most.
 */
import { CancellationScope, isCancellation } from '@temporalio/workflow';
import type { ActivityCommand, MachineEvent } from '../core/machine/command.ts';
import { isWatch } from '../core/machine/resource.ts';
import { carryOut } from './carrier.ts';

type Listener = (commandId: string, event: MachineEvent | null) => void;

export class CommandDispatcher {
  private readonly under = new Map<string, CancellationScope>();
  /** Watches that have not begun. */
  private held: ActivityCommand[] = [];
  private readonly queue: string;
  private readonly answered: Listener;

  constructor(queue: string, answered: Listener) {
    this.queue = queue;
    this.answered = answered;
  }

  /** Nothing is awaited. A watch begins with `beginWatches`. */
  dispatch(command: ActivityCommand, failures = 0): void {
    if (isWatch(command.type)) this.held.push(command);
    else this.begin(command, failures);
  }

  /** A run that is about to be continued as new leaves them to the next one. */
  beginWatches(): void {
    for (const command of this.held.splice(0)) this.begin(command, 0);
  }

  cancel(commandId: string): void {
    this.held = this.held.filter(({ id }) => id !== commandId);
    this.under.get(commandId)?.cancel();
    this.under.delete(commandId);
  }

  private begin(command: ActivityCommand, failures: number): void {
    const scope = new CancellationScope({ cancellable: true });
    this.under.set(command.id, scope);
    scope
      .run(() => carryOut(this.queue, { command, failures }))
      .then((event) => {
        this.under.delete(command.id);
        this.answered(command.id, event);
      })
      .catch((error: unknown) => {
        this.under.delete(command.id);
        if (!isCancellation(error)) throw error;
      });
  }
}
