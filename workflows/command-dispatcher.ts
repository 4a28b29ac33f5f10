/**
 * Long commands under way: each an activity of the queue of its resource, and of its host where it has one.
 * Owns their cancellation; answers go to the listener, one for each command at most.
 */
import { CancellationScope, isCancellation } from '@temporalio/workflow';
import type { ActivityCommand, MachineEvent } from '../core/machine/command.ts';
import { isWatch } from '../core/machine/resource.ts';
import { carryOut, type LongCommand } from './carrier.ts';

type Listener = (commandId: string, event: MachineEvent | null) => void;

export class CommandDispatcher {
  private readonly under = new Map<string, CancellationScope>();
  /** Watches that have not begun. */
  private held: { readonly command: ActivityCommand; readonly host: string | undefined }[] = [];
  private readonly queue: string;
  private readonly answered: Listener;

  constructor(queue: string, answered: Listener) {
    this.queue = queue;
    this.answered = answered;
  }

  /** Nothing is awaited. A watch begins with `beginWatches`. */
  dispatch(command: ActivityCommand, failures = 0, host?: string): void {
    if (isWatch(command.type)) this.held.push({ command, host });
    else this.begin({ command, failures }, host);
  }

  /** A run that is about to be continued as new leaves them to the next one. */
  beginWatches(): void {
    for (const { command, host } of this.held.splice(0)) this.begin({ command, failures: 0 }, host);
  }

  cancel(commandId: string): void {
    this.held = this.held.filter(({ command }) => command.id !== commandId);
    this.under.get(commandId)?.cancel();
    this.under.delete(commandId);
  }

  private begin(long: LongCommand, host: string | undefined): void {
    const { command } = long;
    const scope = new CancellationScope({ cancellable: true });
    this.under.set(command.id, scope);
    scope
      .run(() => carryOut(this.queue, long, host))
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
