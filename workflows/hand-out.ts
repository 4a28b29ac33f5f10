/**
 * Hands out what an activation ordered, as few history events as it takes.
 * Owns the batches and who is cancelled; answers come back through its listener, in a later activation.
 *
 * At most one local batch is under way. A replay finds the ends of local activities in the history without the order
 * in which they came, and gives several of them to one activation: with one at a time there is nothing to mix up.
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

const SILENT: Announcement = { rows: [], letters: [] };
const NOTHING: BriefBatch = { ...SILENT, commands: [], tombstone: null };

export interface AnswerListener {
  /** False once the command was cancelled or answered. */
  isOut(commandId: string): boolean;
  answered(commandId: string, event: MachineEvent | null): void;
}

export class HandOut {
  private isBusy = false;
  /** What waits for the local batch under way to end. */
  private waiting = NOTHING;
  private readonly long = new Map<string, Long>();
  private readonly queue: string;
  private readonly listener: AnswerListener;

  constructor(queue: string, listener: AnswerListener) {
    this.queue = queue;
    this.listener = listener;
  }

  /** Everything has been said: a run may end. */
  get isSilent(): boolean {
    return !this.isBusy && isEmpty(this.waiting);
  }

  /** The way is free for what waits: whoever drives calls `give` again. */
  get mayGoOn(): boolean {
    return !this.isBusy && !isEmpty(this.waiting);
  }

  /** Nothing is awaited: the loop goes on with the next event. */
  give(activation: Activation, tombstone: BriefBatch['tombstone']): void {
    const unsaid = activation.cancelled.flatMap((id) => this.cancel(id));
    const brief = activation.commands.filter(({ type }) => isBrief(type));
    const long = activation.commands.filter(({ type }) => !isBrief(type));
    this.waiting = {
      rows: [...this.waiting.rows, ...unsaid.flatMap(({ rows }) => rows), ...activation.rows],
      letters: [...this.waiting.letters, ...unsaid.flatMap(({ letters }) => letters), ...activation.letters],
      commands: [...this.waiting.commands, ...brief],
      tombstone: tombstone ?? this.waiting.tombstone,
    };
    const bearer = this.waiting.commands.length === 0 ? long.find(mayBear) : undefined;
    for (const command of long) this.start(command, command === bearer ? this.takeAnnouncement() : SILENT);
    if (this.mayGoOn) this.brief();
  }

  private takeAnnouncement(): Announcement {
    const { rows, letters } = this.waiting;
    this.waiting = { ...this.waiting, ...SILENT };
    return { rows, letters };
  }

  private brief(): void {
    const batch = this.waiting;
    this.waiting = NOTHING;
    this.isBusy = true;
    void announce(batch).then(({ events, failed }) => {
      this.isBusy = false;
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
    const commands = this.waiting.commands.filter(({ id }) => id !== commandId);
    this.waiting = { ...this.waiting, commands };
    const long = this.long.get(commandId);
    if (long === undefined) return [];
    this.long.delete(commandId);
    long.scope.cancel();
    return [long.announcement];
  }
}

/**
 * What goes with a command is said when it begins. A watch would be cancelled one day, and what went with it said twice;
 * a boot may wait long for its slot.
 */
function mayBear({ type }: ActivityCommand): boolean {
  return !isWatch(type) && resourceOf(type) !== 'sandbox';
}

function isEmpty({ rows, letters, commands, tombstone }: BriefBatch): boolean {
  return rows.length + letters.length + commands.length === 0 && tombstone === null;
}
