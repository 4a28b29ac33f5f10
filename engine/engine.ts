/**
 * The embedded driver: events in, `step`, one group commit, commands out, one timer per entity.
 * Owns the loop and the order "durable first, then visible"; must not know any rule.
 */
import { randomUUID } from 'node:crypto';
import type { MachineEvent } from '../core/machine/command.ts';
import { addressKey, type EntityAddress } from '../core/ids.ts';
import { ParleyError } from '../core/parley-error.ts';
import type { Clock } from '../ports/clock.ts';
import type { CommitBatch, InboxEntry, Json, OutboxEntry } from '../ports/engine-store.ts';
import type { Delivery, Notifier } from '../ports/notifier.ts';
import { Batch, type Arrival, type HeldEntity } from './batch.ts';
import { Dispatcher, POOL_SIZES_DEFAULT } from './dispatcher.ts';
import type { EngineOptions } from './engine-options.ts';
import { EntityCache } from './entity-cache.ts';
import { EntityTimers } from './entity-timers.ts';

/** Events of one commit at most: bounds the time the event loop is held, and the size of a transaction. */
const BATCH_EVENTS_MAX = 256;
/** The wall clock is adjusted softly all the time; what was set by less than this in all is no matter to any limit. */
const CLOCK_SET_MIN_MS = 1_000;
/** Pause before a failed commit is tried again; nothing is lost meanwhile, callers wait. */
const COMMIT_RETRY_MS = 200;

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
  private readonly timers: EntityTimers;
  private queue: Queued[] = [];
  private retries: { readonly commandId: string; readonly attempt: number; readonly notBefore: number }[] =
    [];
  private looping: Promise<void> | null = null;
  private stopped = false;
  private quiet: (() => void)[] = [];
  private inboxCount = 0;
  private readonly lifeId: string;
  /** What the wall clock shows beyond the one that is never set, as the deadlines that are armed take it to be. */
  private wallOffsetMs: number;

  constructor(options: EngineOptions) {
    this.options = options;
    this.cache = new EntityCache(options.store);
    this.timers = new EntityTimers(options.clock, (address) => this.struck(address));
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
    this.wallOffsetMs = wallOffset(options.clock);
  }

  /** Continues exactly where the last process stopped: timers, inbox, outbox. */
  async start(): Promise<void> {
    const { store } = this.options;
    const [armed, inbox, outbox] = [await store.armed(), await store.inbox(), await store.outbox()];
    for (const entry of inbox) this.push(fromInbox(entry), NOBODY);
    for (const entry of outbox) this.dispatcher.dispatch(entry);
    // Timers last: a deadline that has passed may cancel a command, which must be known as out by then.
    for (const { address, deadline } of armed) this.arm(address, deadline);
    this.wake();
  }

  /** Stops after the commit under way; everything else is in the store. */
  async stop(): Promise<void> {
    this.stopped = true;
    this.timers.cancelAll();
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

  /** Before anything is judged by a wall clock that was set: limits of time at work move along with it (D36). */
  private async followClock(arrivals: readonly Arrival[]): Promise<void> {
    const byMs = Math.round(wallOffset(this.options.clock) - this.wallOffsetMs);
    if (Math.abs(byMs) < CLOCK_SET_MIN_MS) return;
    this.wallOffsetMs += byMs;
    this.options.onClockSet?.(byMs);
    const struck = [...arrivals, ...this.queue].filter(({ event }) => event?.type === 'deadline');
    const concerned = [...this.timers.addresses, ...struck.map(({ to }) => to)];
    const addresses = [...new Map(concerned.map((address) => [addressKey(address), address])).values()];
    for (let from = 0; from < addresses.length; from += BATCH_EVENTS_MAX)
      await this.untilCommitted(() => this.moveLimits(addresses.slice(from, from + BATCH_EVENTS_MAX), byMs));
  }

  private async moveLimits(addresses: readonly EntityAddress[], byMs: number): Promise<void> {
    const batch = this.newBatch();
    for (const address of addresses) {
      if (!this.cache.has(address)) await this.cache.load(address);
      batch.clockSet(address, byMs);
    }
    if (!batch.isEmpty) await this.write(batch, { ...batch.toCommit([]), outboxRetried: [] });
    this.publish(batch);
  }

  private async commit(arrivals: readonly Queued[], retries: Engine['retries']): Promise<void> {
    const isCommitted = await this.untilCommitted(async () => {
      await this.followClock(arrivals);
      const { batch, applied, rest } = await this.applyAll(arrivals);
      const leftOver = rest.map((tell) => this.toInbox(tell));
      const changes = { ...batch.toCommit(leftOver.map(({ entry }) => entry)), outboxRetried: retries };
      if (!batch.isEmpty || retries.length > 0) await this.write(batch, changes);
      this.publish(batch);
      for (const { arrival } of leftOver) this.push(arrival, NOBODY);
      for (const { caller } of arrivals) caller.committed();
      for (const record of batch.steps) this.options.onStep?.(record);
      this.options.onCommit?.(applied);
    });
    if (!isCommitted) refuseAll(arrivals);
  }

  /** False when the engine was stopped before it succeeded. */
  private async untilCommitted(attempt: () => Promise<void>): Promise<boolean> {
    const { clock } = this.options;
    for (;;) {
      try {
        await attempt();
        return true;
      } catch (error) {
        this.options.onCommitError?.(error);
        if (this.stopped) return false;
        await new Promise<void>((resolve) => clock.setTimer(clock.now() + COMMIT_RETRY_MS, resolve));
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

  /** Applies arrivals and the envelopes they cause, up to the bound; what is left over waits in the inbox. */
  private async applyAll(
    arrivals: readonly Queued[],
  ): Promise<{ batch: Batch; applied: number; rest: readonly Arrival[] }> {
    const bound = this.options.batchEventsMax ?? BATCH_EVENTS_MAX;
    const batch = this.newBatch();
    let applied = 0;
    for (const arrival of arrivals) {
      if (!this.cache.has(arrival.to)) await this.cache.load(arrival.to);
      batch.apply(arrival);
      applied += 1;
    }
    for (let next = batch.sends[0]; next !== undefined && applied < bound; next = batch.sends[0]) {
      batch.sends.shift();
      if (!this.cache.has(next.to)) await this.cache.load(next.to);
      batch.apply(next);
      applied += 1;
    }
    return { batch, applied, rest: batch.sends };
  }

  private newBatch(): Batch {
    return new Batch({
      held: (key) => this.cache.get(key),
      isOut: (commandId) => this.dispatcher.isOut(commandId),
      now: this.options.clock.now(),
      recordsSteps: this.options.onStep !== undefined,
      onStepError: (error, { to }) => this.options.onStepError?.(error, to),
    });
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
    for (const entry of batch.ordered.values()) this.dispatcher.dispatch(entry);
    for (const { address, deadline, done } of batch.entities.values())
      this.arm(address, done ? null : deadline);
    for (const entity of batch.struckEarly) this.armAgain(entity, batch);
  }

  /** The clock was set back between a timer and its commit: the deadline is still to come. */
  private armAgain({ address, deadline }: HeldEntity, batch: Batch): void {
    const isMoved = batch.entities.has(addressKey(address));
    if (!isMoved && deadline !== null && deadline > this.options.clock.now()) this.arm(address, deadline);
  }

  private arm(address: EntityAddress, at: number | null): void {
    if (!this.stopped || at === null) this.timers.arm(address, at);
  }

  private struck(address: EntityAddress): void {
    this.push({ to: address, event: { type: 'deadline' }, answers: null, inboxId: null }, NOBODY);
    this.wake();
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

function wallOffset(clock: Clock): number {
  return clock.now() - clock.steady();
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
