/**
 * What an engine is given, and what it reports to its caller.
 * Owns the shape; the loop is in engine.ts.
 */
import type { Activities } from '../activities/activity.ts';
import type { ActivityCommand } from '../core/machine/command.ts';
import type { EntityAddress } from '../core/ids.ts';
import type { ParleyError } from '../core/parley-error.ts';
import type { Clock } from '../ports/clock.ts';
import type { EngineStore } from '../ports/engine-store.ts';
import type { StepRecord } from './batch.ts';
import type { DispatcherOptions, PoolSizes } from './dispatcher.ts';

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
  /** The wall clock was set by so much, or the machine was suspended so long. */
  readonly onClockSet?: (byMs: number) => void;
  /** Called after every commit with the number of events it applied. */
  readonly onCommit?: (events: number) => void;
}
