/**
 * What travels to an entity's workflow, and what a run of it passes to the next.
 * Owns the wire shapes between workflows, clients and workers; must not know a machine's rules.
 */
import { defineSignal, defineUpdate } from '@temporalio/workflow';
import type { ActivityCommand, MachineEvent } from '../core/machine/command.ts';
import type { EntityAddress } from '../core/ids.ts';
import type { ClockSight } from './clock-sight.ts';

/** An event with the id it got at the edge: a repeat of the same id is dropped, also after continue-as-new. */
export interface Envelope {
  readonly id: string;
  readonly event: MachineEvent;
}

/** An envelope with its receiver. */
export interface AddressedEnvelope extends Envelope {
  readonly to: EntityAddress;
}

/** Notices of other machines and of activities: the sender waits for no answer. */
export const noticeSignal = defineSignal<[Envelope]>('notice');

/** A request of a client: returns once it is in the history, or refuses what no machine understands. */
export const requestUpdate = defineUpdate<void, [Envelope]>('request');

/** Type of the failure of a request that is no envelope. */
export const MALFORMED = 'malformed';

/** Requests that an entity goes on in a new run, on the newest build, as soon as nothing is under way. */
export const moveOnSignal = defineSignal<[]>('moveOn');

/**
 * What one run passes to the next, plain JSON.
 * Deadlines are absolute in the state, so there is no time in it that could go stale.
 */
export interface Carried {
  readonly version: 1;
  readonly state: unknown;
  /** Commands whose answer is still waited for: dispatched again, which their ids make harmless. */
  readonly out: readonly ActivityCommand[];
  /** Ids of the latest envelopes, oldest first. */
  readonly seen: readonly string[];
  /** Number of the latest batch of the entity. */
  readonly batch: number;
  /** The clock reading then; absent when it is unknown. */
  readonly clock?: ClockSight;
}

/** With what a workflow of an entity begins. */
export interface DriveInput {
  /** Task queues of the deployment begin with it. */
  readonly queue: string;
  /** A run of the workflow is continued as new beyond so many events of its history. */
  readonly eventsMax: number;
  /** Search attributes as they were last written, as text. */
  readonly shown: string;
  /** Null in the first run of an entity, and in one that takes up what was put away. */
  readonly carried: Carried | null;
  /** The entity was at rest, and its workflow had ended: its state is in the store. */
  readonly isTakenUp?: true;
  /** Ends as soon as the entity rests, of whatever kind. Absent in runs that older builds began: they replay so. */
  readonly endsAtRest?: true;
}
