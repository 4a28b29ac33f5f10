/**
 * Start requests as they were accepted, and the tasks that users poll (spec "Start task", D18).
 * Owns the interface; where a start stands is in the conversation's own record.
 */
import type { ConversationSpec } from '../core/conversation/state.ts';
import type { ConversationId, UserId } from '../core/ids.ts';
import type { Json } from './engine-store.ts';
import type { PlaceRequest } from './placement-store.ts';
import type { PageRequest } from './record-search.ts';

/** A start request that was accepted. */
export interface StartTask {
  /** 32 hex digits. */
  readonly taskId: string;
  readonly userId: UserId;
  readonly conversationId: ConversationId;
  readonly createdAt: number;
  /** The caller's `Idempotency-Key`; null when none was sent. */
  readonly idempotencyKey: string | null;
  /** Distinguishes two requests under one key. */
  readonly fingerprint: string;
  /** The request without the values of secrets, to be echoed. */
  readonly request: Json;
  readonly spec: ConversationSpec;
}

/**
 * How far a start has come that its machine may not have yet. `accepted`: its secrets may be missing. `sealed`: it holds
 * all that its machine needs, and is delivered whatever becomes of the process that took it. `abandoned`: it is being
 * taken back, and no caller was answered with it.
 */
export type StartStage = 'accepted' | 'sealed' | 'abandoned';

/** A start that this process has to deliver or to take back, until its lease ends. */
export interface LeasedStart {
  readonly task: StartTask;
  readonly stage: StartStage;
}

/** Which starts are requested. */
export interface StartLease {
  /** Those whose lease has ended by then; null takes all, for a process that is alone on the store. */
  readonly now: number | null;
  /** No other process takes them before. */
  readonly until: number;
  /** Null for no bound. */
  readonly limit: number | null;
}

/** How a start is admitted where slots are few. */
export type StartAdmission =
  /** With its place, or not at all: what placement refuses for another reason is in the task (D16). */
  | { readonly kind: 'placed'; readonly place: PlaceRequest }
  /** Placed later, in order, unless as many wait already. */
  | { readonly kind: 'queued'; readonly waitingMax: number };

/** What became of a start request. */
export type AcceptOutcome =
  /** This task, or the one that the conversation or the user's idempotency key has had before. */
  | { readonly kind: 'kept'; readonly task: StartTask }
  /** The conversation is another user's, or was deleted. */
  | { readonly kind: 'in_use' }
  /** No slot is free, or the queue is full; nothing was kept. */
  | { readonly kind: 'full'; readonly limit: number; readonly current: number }
  /** As for a placement. */
  | { readonly kind: 'warm_lost' };

/** Every field narrows. */
export interface StartTaskFilter {
  readonly conversationId?: ConversationId;
  readonly createdFrom?: number;
}

/** Where accepted starts are kept. */
export interface StartTaskStore {
  /**
   * Keeps the task and takes the place that the admission names, in one transaction (D29). Until `leasedUntil` it is
   * this process's to seal and to deliver.
   */
  accept(task: StartTask, admission: StartAdmission, leasedUntil: number): Promise<AcceptOutcome>;
  /** The task that holds this idempotency key, before anything is done for a repeat. */
  byIdempotencyKey(userId: UserId, key: string): Promise<StartTask | null>;
  /** Null when there is no such task. A delivered one is `sealed`. */
  stageOf(taskId: string): Promise<StartStage | null>;
  /** All that the machine needs is stored. False when it is abandoned or gone: then it must not be delivered. */
  markSealed(taskId: string): Promise<boolean>;
  /** From now on no process seals it. False when it was sealed, or is gone: then it must not be forgotten. */
  abandon(taskId: string): Promise<boolean>;
  /** The machine has the request: nothing is delivered again. */
  markDelivered(taskId: string): Promise<void>;
  /** From `until` on any process may take it. */
  returnLease(taskId: string, until: number): Promise<void>;
  /** Starts that were not delivered, oldest first: each goes to one of several processes that call. */
  takeUndelivered(lease: StartLease): Promise<readonly LeasedStart[]>;
  /** A start that was not accepted after all, and has left its place; its ids are free for a repeat. */
  remove(taskId: string): Promise<void>;
  /** Those that their machines may not have yet, whichever process holds them. */
  undelivered(): Promise<readonly StartTask[]>;
  /** Null where there is no such task, or it is another user's. */
  byIds(userId: UserId, ids: readonly string[]): Promise<readonly (StartTask | null)[]>;
  /** By creation. */
  search(userId: UserId, filter: StartTaskFilter, page: PageRequest): Promise<readonly StartTask[]>;
  count(userId: UserId, filter: StartTaskFilter): Promise<number>;
}
