/**
 * Hands out what an activation ordered, as few history events as it takes.
 * Owns the batches and who is cancelled; answers come back through its listener, in a later activation.
 */
import { CancellationScope, isCancellation } from '@temporalio/workflow';
import type { ActivityCommand, MachineEvent } from '../core/command.ts';
import { isBrief, isWatch, resourceOf } from '../core/resource.ts';
import { announce, carryOut, type Announcement, type BriefBatch } from './carrier.ts';
import type { Activation } from './entity.ts';

interface Long {
  readonly scope: CancellationScope;
  /** What goes out with it; said again by others when it is cancelled, because it may not have been said. */
  readonly announcement: Announcement;
}

/**
 * What goes with a command is said when it begins. A watch would be cancelled one day, and what went with it said twice;
 * a boot may wait long for its slot.
 */
function mayBear({ type }: ActivityCommand): boolean {
  return !isWatch(type) && resourceOf(type) !== 'sandbox';
}

const SILENT: Announcement = { rows: [], letters: [] };

export interface AnswerListener {
  /** False once the command was cancelled or answered. */
  isOut(commandId: string): boolean;
  answered(commandId: string, event: MachineEvent | null): void;
}

export class HandOut {
  /** Local batches under way: a run is not continued as new while there are any. */
  briefCount = 0;
  private readonly long = new Map<string, Long>();
  private readonly queue: string;
  private readonly listener: AnswerListener;

  constructor(queue: string, listener: AnswerListener) {
    this.queue = queue;
    this.listener = listener;
  }

  /** Nothing is awaited: the loop goes on with the next event. */
  give(activation: Activation, tombstone: BriefBatch['tombstone']): void {
    const unsaid = activation.cancelled.flatMap((id) => this.cancel(id));
    const rows = [...unsaid.flatMap((one) => one.rows), ...activation.rows];
    const letters = [...unsaid.flatMap((one) => one.letters), ...activation.letters];
    const brief = activation.commands.filter(({ type }) => isBrief(type));
    const long = activation.commands.filter(({ type }) => !isBrief(type));
    const bearer = brief.length === 0 ? long.find(mayBear) : undefined;
    const hasToSay = rows.length + letters.length + brief.length > 0 && bearer === undefined;
    if (hasToSay || tombstone !== null) this.brief({ rows, letters, commands: brief, tombstone });
    for (const command of long) this.start(command, command === bearer ? { rows, letters } : SILENT);
  }

  private brief(batch: BriefBatch): void {
    this.briefCount += 1;
    void announce(batch).then(({ events, failed }) => {
      this.briefCount -= 1;
      for (const command of batch.commands) {
        const event = events[command.id];
        if (event !== undefined) this.listener.answered(command.id, event);
        else if (this.listener.isOut(command.id))
          this.start(command, SILENT, Number(failed.includes(command.id)));
      }
    });
  }

  private start(command: ActivityCommand, announcement: Announcement, failures = 0): void {
    const scope = new CancellationScope({ cancellable: true });
    this.long.set(command.id, { scope, announcement });
    scope
      .run(() => carryOut(this.queue, { ...announcement, command, failures }))
      .then((event) => {
        this.long.delete(command.id);
        this.listener.answered(command.id, event);
      })
      .catch((error: unknown) => {
        this.long.delete(command.id);
        if (!isCancellation(error)) throw error;
      });
  }

  private cancel(commandId: string): readonly Announcement[] {
    const long = this.long.get(commandId);
    if (long === undefined) return [];
    this.long.delete(commandId);
    long.scope.cancel();
    return [long.announcement];
  }
}
