/**
 * Start requests as they were accepted, and the tasks that users poll (spec "Start task", D18).
 * Owns the interface; where a start stands is in the conversation's own record.
 */
import type { ConversationBirth } from '../core/conversation/state.ts';
import type { ConversationId, UserId } from '../core/ids.ts';
import type { Json } from './engine-store.ts';
import type { PageRequest } from './record-search.ts';

export interface StartTask {
  /** 32 hex digits. */
  readonly taskId: string;
  readonly userId: UserId;
  readonly conversationId: ConversationId;
  readonly createdAt: number;
  /** The caller's `Idempotency-Key`; null when none was sent. */
  readonly idempotencyKey: string | null;
  /** Tells two requests under one key apart. */
  readonly fingerprint: string;
  /** The request without the values of secrets, to be echoed. */
  readonly request: Json;
  readonly birth: ConversationBirth;
}

export interface StartTaskFilter {
  readonly conversationId?: ConversationId;
  readonly createdFrom?: number;
}

export interface StartTaskStore {
  /**
   * Keeps the task, unless the conversation or the user's idempotency key has one: returns what is kept.
   * Null when the conversation is somebody else's, or was deleted.
   */
  accept(task: StartTask): Promise<StartTask | null>;
  /** The task that holds this idempotency key, before anything is done for a repeat. */
  byIdempotencyKey(userId: UserId, key: string): Promise<StartTask | null>;
  /** The machine has the request: nothing is delivered again. */
  markDelivered(taskId: string): Promise<void>;
  /** A start that was not accepted after all. */
  remove(taskId: string): Promise<void>;
  /** Accepted, and the process died before the machine had it. */
  undelivered(): Promise<readonly StartTask[]>;
  /** Null where there is no such task, or it is somebody else's. */
  byIds(userId: UserId, ids: readonly string[]): Promise<readonly (StartTask | null)[]>;
  /** By creation. */
  search(userId: UserId, filter: StartTaskFilter, page: PageRequest): Promise<readonly StartTask[]>;
  count(userId: UserId, filter: StartTaskFilter): Promise<number>;
}
