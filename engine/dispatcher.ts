/**
 * Carries out commands that are out: pools by resource class, retries with backoff, cancellation.
 * Owns which attempt runs when; an answer goes back through `answer`, and only a commit makes it final.
 */
import PQueue from 'p-queue';
import type { Activities, Activity, ActivityContext } from '../activities/activity.ts';
import type { ActivityCommand, ActivityCommandType, MachineEvent } from '../core/machine/command.ts';
import { asParleyError, type ParleyError } from '../core/parley-error.ts';
import { resourceOf, type ResourceClass } from '../core/machine/resource.ts';
import { waitAfter } from '../core/machine/retry.ts';
import type { Clock, Timer } from '../ports/clock.ts';
import type { OutboxEntry } from '../ports/engine-store.ts';

/** Watches need no pool: they wait by nature. */
export type PoolSizes = Readonly<Record<Exclude<ResourceClass, 'watch'>, number>>;

/** Boots are heavy, agent traffic is mostly waiting. */
export const POOL_SIZES_DEFAULT: PoolSizes = { sandbox: 8, agent: 64, bookkeeping: 16 };

/** How long a stop waits for activities that run. */
const STOP_WAIT_MS = 3_000;

export interface DispatcherOptions {
  readonly activities: Activities;
  readonly clock: Clock;
  readonly pools: PoolSizes;
  /** The product's table when left out. */
  readonly resourceOf?: (type: ActivityCommandType) => ResourceClass;
  /** The answer of a command, or null when its machine waits for none. */
  readonly answer: (entry: OutboxEntry, event: MachineEvent | null) => void;
  /** A failed attempt is made durable before it is tried again. */
  readonly retried: (
    entry: OutboxEntry,
    retry: { readonly attempt: number; readonly notBefore: number },
  ) => void;
  readonly onError: (command: ActivityCommand, error: ParleyError, attempt: number) => void;
}

interface Out {
  readonly entry: OutboxEntry;
  readonly cancellation: Cancellation;
  timer: Timer | null;
}

/** Most commands end without a use of their signal: it is made on demand. */
class Cancellation {
  private controller: AbortController | null = null;
  isCancelled = false;

  get signal(): AbortSignal {
    this.controller ??= new AbortController();
    if (this.isCancelled) this.controller.abort();
    return this.controller.signal;
  }

  cancel(): void {
    this.isCancelled = true;
    this.controller?.abort();
  }
}

export class Dispatcher {
  private readonly out = new Map<string, Out>();
  private readonly pools: Readonly<Record<keyof PoolSizes, PQueue>>;
  private readonly options: DispatcherOptions;
  private stopped = false;

  constructor(options: DispatcherOptions) {
    this.options = options;
    const pool = (resource: keyof PoolSizes): PQueue => new PQueue({ concurrency: options.pools[resource] });
    this.pools = {
      sandbox: pool('sandbox'),
      agent: pool('agent'),
      bookkeeping: pool('bookkeeping'),
    };
  }

  isOut(commandId: string): boolean {
    return this.out.has(commandId);
  }

  /** Commands whose answer a machine still waits for; watches are waiting by nature and not counted. */
  get busyCount(): number {
    let count = 0;
    for (const { entry } of this.out.values()) if (this.resource(entry) !== 'watch') count += 1;
    return count;
  }

  /** Begins with a command once it is durable. */
  dispatch(entry: OutboxEntry): void {
    if (this.stopped || this.out.has(entry.commandId)) return;
    const out: Out = { entry, cancellation: new Cancellation(), timer: null };
    this.out.set(entry.commandId, out);
    this.schedule(out);
  }

  /** Its answer is durable: nothing is left to do. */
  settle(commandId: string): void {
    this.out.delete(commandId);
  }

  /** The machine no longer waits: running work is aborted. */
  cancel(commandId: string): void {
    const out = this.out.get(commandId);
    if (out === undefined) return;
    this.out.delete(commandId);
    out.timer?.cancel();
    out.cancellation.cancel();
  }

  /** Stops dispatching and aborts what runs; what is out stays in the store. */
  async stop(): Promise<void> {
    this.stopped = true;
    for (const commandId of [...this.out.keys()]) this.cancel(commandId);
    const idle = Promise.all(Object.values(this.pools).map((pool) => pool.onIdle()));
    const { clock } = this.options;
    // Work that ignores its signal is repeated by the next process anyway.
    let timer: Timer | null = null;
    const tired = new Promise<void>(
      (resolve) => (timer = clock.setTimer(clock.now() + STOP_WAIT_MS, resolve)),
    );
    await Promise.race([idle, tired]);
    (timer as Timer | null)?.cancel();
  }

  private schedule(out: Out): void {
    const { clock } = this.options;
    if (out.entry.notBefore <= clock.now()) return this.enqueue(out);
    out.timer = clock.setTimer(out.entry.notBefore, () => {
      out.timer = null;
      this.enqueue(out);
    });
  }

  private enqueue(out: Out): void {
    const resource = this.resource(out.entry);
    // Watches wait by nature: a place in a queue would only make them wait for one another.
    if (resource === 'watch') void this.attempt(out);
    else void this.pools[resource].add(() => this.attempt(out));
  }

  private resource(entry: OutboxEntry): ResourceClass {
    return (this.options.resourceOf ?? resourceOf)(commandIn(entry).type);
  }

  private activityOf(entry: OutboxEntry): Activity {
    const command = commandIn(entry);
    return this.options.activities[command.type] as unknown as Activity;
  }

  private async attempt(out: Out): Promise<void> {
    const { entry, cancellation } = out;
    if (cancellation.isCancelled) return;
    const activity = this.activityOf(entry);
    const command = commandIn(entry) as Parameters<Activity['run']>[0];
    const context: ActivityContext = {
      attempt: entry.attempt,
      get signal() {
        return cancellation.signal;
      },
    };
    try {
      const event = await activity.run(command, context);
      this.finish(out, event);
    } catch (cause) {
      if (!cancellation.isCancelled) this.failedAttempt(out, activity, asParleyError(cause));
    }
  }

  private failedAttempt(out: Out, activity: Activity<ActivityCommandType>, error: ParleyError): void {
    const { entry } = out;
    const command = commandIn(entry) as Parameters<Activity['failed']>[0];
    this.options.onError(command, error, entry.attempt);
    const waitMs = waitAfter(error, activity.retry, entry.attempt);
    if (waitMs === null) return this.finish(out, activity.failed(command, error));
    const retry = { attempt: entry.attempt + 1, notBefore: this.options.clock.now() + waitMs };
    const again: Out = { entry: { ...entry, ...retry }, cancellation: out.cancellation, timer: null };
    this.out.set(entry.commandId, again);
    this.options.retried(again.entry, retry);
    this.schedule(again);
  }

  /** Stays out until the commit that applies its answer; a crash before that repeats the command. */
  private finish(out: Out, event: MachineEvent | null): void {
    if (out.cancellation.isCancelled) return;
    this.options.answer(out.entry, event);
  }
}

function commandIn(entry: OutboxEntry): ActivityCommand {
  return entry.command as unknown as ActivityCommand;
}
