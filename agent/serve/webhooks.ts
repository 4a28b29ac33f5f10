/**
 * Telling the server above about all conversations: one queue each, so that order holds within a conversation and a
 * slow one holds up no other. Owns the queues; each queue owns its sending.
 */
import type { WebhookConfig } from '../config.ts';
import type { ConversationEvent } from '../conversation/event.ts';
import { hexOf } from '../ids.ts';
import type { Log } from './log.ts';
import { WebhookQueue } from './webhook-queue.ts';
import { settledWithin } from '../world.ts';
import type { World } from '../world.ts';

export interface WebhookSurroundings {
  readonly config: WebhookConfig;
  readonly sessionKey: string | null;
  readonly world: World;
  readonly log: Log;
}

export class Webhooks {
  readonly #around: WebhookSurroundings;
  readonly #queues = new Map<string, WebhookQueue>();

  constructor(around: WebhookSurroundings) {
    this.#around = around;
  }

  pushEvent(conversationId: string, event: ConversationEvent): void {
    this.#queueOf(conversationId).push({ kind: 'event', json: JSON.stringify(event) });
  }

  /** The record as it is now; events before it go first. */
  pushInfo(conversationId: string, info: unknown): void {
    this.#queueOf(conversationId).push({ kind: 'info', json: JSON.stringify(info) });
  }

  /** Drops the queue of a deleted conversation once its last record has left or failed. */
  forget(conversationId: string): void {
    const queue = this.#queues.get(conversationId);
    if (queue === undefined) return;
    void queue.flush().finally(() => {
      queue.close();
      if (this.#queues.get(conversationId) === queue) this.#queues.delete(conversationId);
    });
  }

  /** Sends what is left, for at most `withinMs`, and ends. */
  async close(withinMs: number): Promise<void> {
    const queues = [...this.#queues.values()];
    await settledWithin(Promise.all(queues.map((queue) => queue.flush())), withinMs);
    for (const queue of queues) queue.close();
  }

  #queueOf(conversationId: string): WebhookQueue {
    const known = this.#queues.get(conversationId);
    if (known !== undefined) return known;
    const { config, sessionKey, world, log } = this.#around;
    const headers: Record<string, string> = sessionKey === null ? {} : { 'x-session-api-key': sessionKey };
    const eventsPath = `events/${hexOf(conversationId)}`;
    const queue = new WebhookQueue({ config, headers, eventsPath }, world, log);
    this.#queues.set(conversationId, queue);
    return queue;
  }
}
