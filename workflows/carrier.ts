/**
 * What workers do for a workflow, as types, and how it is called.
 * Owns queues, timeouts and the split into brief and long; the code behind it lives on the worker's side.
 */
import { ActivityCancellationType, proxyActivities, proxyLocalActivities } from '@temporalio/workflow';
import type { ActivityCommand, ActivityCommandType, MachineEvent } from '../core/machine/command.ts';
import type { EntityAddress, SandboxId } from '../core/ids.ts';
import type { ProjectionRow } from '../core/machine/projection.ts';
import { resourceOf, touchesSandbox, type ResourceClass } from '../core/machine/resource.ts';
import type { Share } from './basis.ts';
import type { ClockSight } from './clock-sight.ts';
import type { Input } from './input.ts';
import type { AddressedEnvelope } from './envelope.ts';

/** What an activation has to write, to send and to do at once. */
export interface Batch {
  readonly entity: EntityAddress;
  /** Counts the batches of the entity, from 1. */
  readonly number: number;
  /** The history holds the batches up to this number. */
  readonly settled: number;
  /** What the activation rests on: steps are functions of it. */
  readonly inputs: readonly Input[];
  /** The workflow's clock, epoch milliseconds, and its reading at the latest batch. Absent: it is not checked. */
  readonly clock?: { readonly at: number; readonly last: ClockSight | null };
  /** Carried out in this order: rows first, then envelopes. */
  readonly rows: readonly ProjectionRow[];
  readonly envelopes: readonly AddressedEnvelope[];
  /** Brief ones. */
  readonly commands: readonly ActivityCommand[];
  /** By the id of a long command: the sandbox that it reaches into. Absent: none does. */
  readonly touched?: Readonly<Record<string, SandboxId>>;
  /** The state of an entity at rest: of one that has ended for good its tombstone. Absent for any other. */
  readonly tombstone?: { readonly state: unknown };
  /** The state of an entity that is at work again, in the place of the one in which it had rested. Absent otherwise. */
  readonly opened?: { readonly state: unknown };
}

export type BatchAnswer = AcceptedBatch | DifferentBatch | OvertakenBatch | ClockSetBatch;

/** A batch that was written, and counts. */
export interface AcceptedBatch {
  readonly kind: 'accepted';
  /** What the batch rests on. Absent in the histories of builds that did not record it. */
  readonly basis?: readonly Share[];
  /** By command id. Null: its machine waits for no answer. Absent: it was slow or failed, and gets its own activity. */
  readonly events: Readonly<Record<string, MachineEvent | null>>;
  /** Ids of those whose try failed: it counts as the first one. */
  readonly failed: readonly string[];
  /** By command id: the host whose queue it waits in, of those that were not answered. Absent: any worker will do. */
  readonly hosts?: Readonly<Record<string, string>>;
  /** The present clock reading; absent where it was not checked. */
  readonly clock?: ClockSight;
}

/** Nothing was written: the clock behind the batch was set (D36), so that its steps are taken anew. */
export interface ClockSetBatch {
  readonly kind: 'clockSet';
  readonly byMs: number;
  readonly clock: ClockSight;
}

/** Another execution of the entity was first with this number, and has announced what follows from other inputs. */
export interface DifferentBatch {
  readonly kind: 'different';
  readonly inputs: readonly Input[];
}

/** A later batch has been announced: this execution is not the entity's any more, or its workflow was set back. */
export interface OvertakenBatch {
  readonly kind: 'overtaken';
}

/** A command that takes an activity of its own queue. */
export interface LongCommand {
  readonly command: ActivityCommand;
  /** Tries of it that failed already. */
  readonly failures: number;
}

/** An entity at rest, whose workflow had ended. */
export interface PutAway {
  readonly state: unknown;
  /** Number of its latest batch. */
  readonly batch: number;
}

/** What workflows need of workers. */
export interface CarrierActivities {
  /** What the store has of an entity that was put away; null when it has nothing. */
  takeUp(entity: EntityAddress): Promise<PutAway | null>;
  /** Writes down the inputs; then rows, envelopes, and the commands side by side. Nothing of it for different inputs. */
  announce(batch: Batch): Promise<BatchAnswer>;
}

/** By the name of the command, for metrics and the web UI; each tries again for as long as its class says. */
export type CommandActivities = {
  readonly [Type in ActivityCommandType]: (long: LongCommand) => Promise<MachineEvent | null>;
};

/** A worker that is lost is noticed after so long. */
const HEARTBEAT_TIMEOUT_MS = 10_000;
/** Longer than any single try: machines cancel what takes too long for them. */
const TRY_MAX_MS = 6 * 3_600_000;
/** Store writes and envelopes of a large run's activation, with a store that is slow. */
const BRIEF_MAX_MS = 60_000;

/** The queue of a resource class; with a host the one that only its own worker polls. */
export function queueOf(prefix: string, resource: ResourceClass, host?: string): string {
  return host === undefined ? `${prefix}-${resource}` : `${prefix}-${resource}@${host}`;
}

/** The sandbox that a command reaches into; null when it reaches into none. */
export function sandboxTouchedBy(command: ActivityCommand): SandboxId | null {
  return touchesSandbox(command.type) && 'sandboxId' in command ? command.sandboxId : null;
}

const local = proxyLocalActivities<CarrierActivities>({
  startToCloseTimeout: BRIEF_MAX_MS,
  retry: { initialInterval: 100, backoffCoefficient: 2, maximumInterval: 5_000 },
  cancellationType: ActivityCancellationType.ABANDON,
});

export const takeUp = (entity: EntityAddress): Promise<PutAway | null> => local.takeUp(entity);

/** Writes a batch and carries out its brief commands. */
export const announce = (batch: Batch): Promise<BatchAnswer> => local.announce(batch);

/** Waits and tries are decided on the worker's side, which sets the time of the next try (`nextRetryDelay`). */
export function carryOut(prefix: string, long: LongCommand, host?: string): Promise<MachineEvent | null> {
  const { command } = long;
  const proxy = proxyActivities<CommandActivities>({
    taskQueue: queueOf(prefix, resourceOf(command.type), host),
    startToCloseTimeout: TRY_MAX_MS,
    heartbeatTimeout: HEARTBEAT_TIMEOUT_MS,
    retry: { initialInterval: 1_000, backoffCoefficient: 1 },
    cancellationType: ActivityCancellationType.TRY_CANCEL,
    // Ids of commands are ours and short; a server takes 400 bytes.
    summary: `${command.type} ${command.id}`,
  });
  return proxy[command.type](long);
}
