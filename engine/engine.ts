/**
 * The embedded driver: events in, `step`, one group commit, commands out, one timer per entity.
 * Owns the loop and the order "durable first, then visible"; must not know any rule.
 */
import { randomUUID } from 'node:crypto';
import type { Activities } from '../activities/activity.ts';
import type { ActivityCommand, MachineEvent } from '../core/command.ts';
import { addressKey, type EntityAddress } from '../core/ids.ts';
import { ParleyError } from '../core/parley-error.ts';
import type { Clock, Timer } from '../ports/clock.ts';
import type { CommitBatch, EngineStore, InboxEntry, Json, OutboxEntry } from '../ports/engine-store.ts';
import type { Delivery, Notifier } from '../ports/notifier.ts';
import { Batch, type Arrival, type HeldEntity, type StepRecord } from './batch.ts';
import { Dispatcher, POOL_SIZES_DEFAULT, type DispatcherOptions, type PoolSizes } from './dispatcher.ts';
import { EntityCache } from './entity-cache.ts';

/** Events of one commit at most: bounds the time the event loop is held, and the size of a transaction. */
const BATCH_EVENTS_MAX = 256;
/** Pause before a failed commit is tried again; nothing is lost meanwhile, callers wait. */
const COMMIT_RETRY_MS = 200;

export interface EngineOptions {
  readonly store: EngineStore;
  readonly activities: Activities;
  readonly clock: Clock;
  readonly pools?: PoolSizes;
  /** Which pool a command waits in; the product's table when left out. */
  readonly resourceOf?: DispatcherOptions['resourceOf'];
  /** Events per commit at most; 1 gives one transaction per event, for comparison. */
  readonly batchEventsMax?: number;
  /** Every step that was not silent, in order, once it is durable. */
  readonly onStep?: (record: StepRecord) => void;
  /** A machine threw: a bug. Its event is lost, everybody else goes on. */
  readonly onStepError?: (error: unknown, to: EntityAddress) => void;
  /** Marks the inbox rows of this process; different in every life. Random when left out. */
  readonly lifeId?: string;
  readonly onActivityError?: (command: ActivityCommand, error: ParleyError, attempt: number) => void;
  readonly onCommitError?: (error: unknown) => void;
  /** Called after every commit with the number of events it applied. */
  readonly onCommit?: (events: number) => void;
}

/** An arrival with the caller that waits for its commit. */
interface Queued extends Arrival {
  readonly caller: Caller;
}

interface Caller {
  readonly committed: () => void;
  readonly refused: (error: ParleyError) => void;
}

const nothing = (): void => undefined;
const NOBODY: Caller = { committed: nothing, refused: nothing };

export class Engine implements Notifier {
  private readonly options: EngineOptions;
  private readonly cache: EntityCache;
  private readonly dispatcher: Dispatcher;
  private readonly timers = new Map<string, { readonly at: number; readonly timer: Timer }>();
  private queue: Queued[] = [];
  private retries: { readonly commandId: string; readonly attempt: number; readonly notBefore: number }[] =
    [];
  private looping: Promise<void> | null = null;
  private stopped = false;
  private quiet: (() => void)[] = [];
  private inboxCount = 0;
  private readonly lifeId: string;

  constructor(options: EngineOptions) {
    this.options = options;
    this.cache = new EntityCache(options.store);
    this.dispatcher = new Dispatcher({
      activities: options.activities,
      clock: options.clock,
      pools: options.pools ?? POOL_SIZES_DEFAULT,
      ...(options.resourceOf === undefined ? {} : { resourceOf: options.resourceOf }),
      answer: (entry, event) => this.answered(entry, event),
      retried: (entry, retry) => {
        this.retries.push({ commandId: entry.commandId, ...retry });
        this.wake();
      },
      onError: options.onActivityError ?? nothing,
    });
    this.lifeId = options.lifeId ?? randomUUID();
  }

  /** Continues exactly where the last process stopped: timers, inbox, outbox. */
  async start(): Promise<void> {
    const { store } = this.options;
    const [armed, inbox, outbox] = [await store.armed(), await store.inbox(), await store.outbox()];
    for (const entry of inbox) this.push(fromInbox(entry), NOBODY);
    for (const entry of outbox) this.dispatcher.handOut(entry);
    // Timers last: a deadline that has passed may cancel a command, which must be known as out by then.
    for (const { address, deadline } of armed) this.arm(address, deadline);
    this.wake();
  }

  /** Stops after the commit under way; everything else is in the store. */
  async stop(): Promise<void> {
    this.stopped = true;
    for (const { timer } of this.timers.values()) timer.cancel();
    this.timers.clear();
    await this.dispatcher.stop();
    await this.looping;
    refuseAll(this.queue.splice(0));
  }

  deliver(delivery: Delivery): Promise<void> {
    if (this.stopped) return Promise.reject(engineStopped());
    return new Promise((committed, refused) => {
      const arrival = { to: delivery.to, event: delivery.event, answers: null, inboxId: null };
      this.push(arrival, { committed, refused });
      this.wake();
    });
  }

  /** Resolves when every inbox is empty and nothing but watches is out (what a scripted step waits for). */
  settled(): Promise<void> {
    if (this.isQuiet()) return Promise.resolve();
    return new Promise((resolve) => this.quiet.push(resolve));
  }

  private isQuiet(): boolean {
    return this.queue.length === 0 && this.looping === null && this.dispatcher.busyCount === 0;
  }

  private push(arrival: Arrival, caller: Caller): void {
    this.queue.push({ ...arrival, caller });
  }

  private answered(entry: OutboxEntry, event: MachineEvent | null): void {
    this.push({ to: entry.sender, event, answers: entry.commandId, inboxId: null }, NOBODY);
    this.wake();
  }

  private wake(): void {
    if (this.stopped || this.looping !== null) return;
    this.looping = this.loop().finally(() => {
      this.looping = null;
      if (!this.stopped && (this.queue.length > 0 || this.retries.length > 0)) return this.wake();
      if (!this.isQuiet()) return;
      for (const resolve of this.quiet.splice(0)) resolve();
    });
  }

  /** One turn drains what arrived while the last commit ran; nothing waits on purpose. */
  private async loop(): Promise<void> {
    await nextMacrotask();
    while (!this.stopped && (this.queue.length > 0 || this.retries.length > 0)) {
      const arrivals = this.queue.splice(0, this.options.batchEventsMax ?? BATCH_EVENTS_MAX);
      const retries = this.retries.splice(0);
      await this.commit(arrivals, retries);
      await nextMacrotask();
    }
  }

  private async commit(arrivals: readonly Queued[], retries: Engine['retries']): Promise<void> {
    for (;;) {
      try {
        const { batch, applied, rest } = await this.applyAll(arrivals);
        const leftOver = rest.map((tell) => this.toInbox(tell));
        const changes = { ...batch.toCommit(leftOver.map(({ entry }) => entry)), outboxRetried: retries };
        if (!batch.isEmpty || retries.length > 0) await this.write(batch, changes);
        this.publish(batch);
        for (const { arrival } of leftOver) this.push(arrival, NOBODY);
        for (const { caller } of arrivals) caller.committed();
        for (const record of batch.steps) this.options.onStep?.(record);
        this.options.onCommit?.(applied);
        return;
      } catch (error) {
        this.options.onCommitError?.(error);
        if (this.stopped) return refuseAll(arrivals);
        await new Promise<void>((resolve) =>
          this.options.clock.setTimer(this.options.clock.now() + COMMIT_RETRY_MS, resolve),
        );
      }
    }
  }

  private async write(batch: Batch, changes: CommitBatch): Promise<void> {
    try {
      await this.options.store.commit(changes);
    } catch (error) {
      this.cache.doubt(batch.entities.keys());
      throw error;
    }
  }

  /** Applies arrivals and the tells they cause, up to the bound; what is left over waits in the inbox. */
  private async applyAll(
    arrivals: readonly Queued[],
  ): Promise<{ batch: Batch; applied: number; rest: readonly Arrival[] }> {
    const bound = this.options.batchEventsMax ?? BATCH_EVENTS_MAX;
    const batch = new Batch({
      held: (key) => this.cache.get(key),
      isOut: (commandId) => this.dispatcher.isOut(commandId),
      now: this.options.clock.now(),
      recordsSteps: this.options.onStep !== undefined,
      onStepError: (error, { to }) => this.options.onStepError?.(error, to),
    });
    let applied = 0;
    for (const arrival of arrivals) {
      if (!this.cache.has(arrival.to)) await this.cache.load(arrival.to);
      batch.apply(arrival);
      applied += 1;
    }
    for (let next = batch.tells[0]; next !== undefined && applied < bound; next = batch.tells[0]) {
      batch.tells.shift();
      if (!this.cache.has(next.to)) await this.cache.load(next.to);
      batch.apply(next);
      applied += 1;
    }
    return { batch, applied, rest: batch.tells };
  }

  private toInbox(tell: Arrival): { entry: InboxEntry; arrival: Arrival } {
    const acceptedAt = this.options.clock.now();
    this.inboxCount += 1;
    const inboxId = `${this.lifeId}-${String(this.inboxCount).padStart(9, '0')}`;
    const entry = { inboxId, to: tell.to, event: tell.event as unknown as Json, acceptedAt };
    return { entry, arrival: { ...tell, inboxId } };
  }

  /** After the commit, and only then: memory, cancellations, commands, timers. */
  private publish(batch: Batch): void {
    this.cache.keep(batch.entities.values());
    for (const commandId of batch.cancelled) this.dispatcher.cancel(commandId);
    for (const commandId of batch.removed) this.dispatcher.settle(commandId);
    for (const entry of batch.handedOut.values()) this.dispatcher.handOut(entry);
    for (const { address, deadline, done } of batch.entities.values())
      this.arm(address, done ? null : deadline);
    for (const entity of batch.struckEarly) this.armAgain(entity, batch);
  }

  /** The clock was set back between a timer and its commit: the deadline is still to come. */
  private armAgain({ address, deadline }: HeldEntity, batch: Batch): void {
    const isMoved = batch.entities.has(addressKey(address));
    if (!isMoved && deadline !== null && deadline > this.options.clock.now()) this.arm(address, deadline);
  }

  /** One timer per entity, moved when its deadline moves. */
  private arm(address: EntityAddress, at: number | null): void {
    const key = addressKey(address);
    const armed = this.timers.get(key);
    if (armed?.at === at) return;
    armed?.timer.cancel();
    this.timers.delete(key);
    if (at === null || this.stopped) return;
    const timer = this.options.clock.setTimer(at, () => {
      this.timers.delete(key);
      this.push({ to: address, event: { type: 'deadline' }, answers: null, inboxId: null }, NOBODY);
      this.wake();
    });
    this.timers.set(key, { at, timer });
  }
}

function fromInbox(entry: InboxEntry): Arrival {
  return {
    to: entry.to,
    event: entry.event as unknown as MachineEvent,
    answers: null,
    inboxId: entry.inboxId,
  };
}

function engineStopped(): ParleyError {
  return new ParleyError('store_unavailable', 'Cannot accept the event: the engine has been stopped');
}

function refuseAll(arrivals: readonly Queued[]): void {
  for (const { caller } of arrivals) caller.refused(engineStopped());
}

/** Lets everything that is ready arrive first: that is what makes a group. */
function nextMacrotask(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
