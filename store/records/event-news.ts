/**
 * Notifies other processes that a transcript has grown or is gone.
 * Owns the payload: a conversation and its last number, after the commit, and many in one statement. PostgreSQL commits
 * transactions that notify one after the other, so transactions that store events never notify.
 */
import { sql } from 'kysely';
import type { ConversationId } from '../../core/ids.ts';
import type { StoreConnection } from '../sql/connection.ts';

/** One for all conversations: each follower picks its own. */
export const EVENT_CHANNEL = 'parley_event';
/** Shortest interval between notifications; the first after a pause is sent at once. */
const EVERY_MS = 50;
/** Of one statement. */
const NEWS_MAX = 500;
const GONE = 'gone';

export interface EventNews {
  grown(id: ConversationId, lastSequence: number): void;
  gone(id: ConversationId): void;
  close(): Promise<void>;
}

/** Where no other process can listen. */
export const NO_NEWS: EventNews = {
  grown: () => undefined,
  gone: () => undefined,
  close: () => Promise.resolve(),
};

export function eventNews(connection: StoreConnection): EventNews {
  return new CoalescedNews(connection);
}

/** Infinity when the conversation is gone; null for foreign payloads: any client of the database may notify. */
export function readNews(payload: string): { readonly id: string; readonly sequence: number } | null {
  const at = payload.lastIndexOf(' ');
  const [id, last] = [payload.slice(0, Math.max(0, at)), payload.slice(at + 1)];
  if (id === '') return null;
  if (last === GONE) return { id, sequence: Infinity };
  return /^\d{1,15}$/.test(last) ? { id, sequence: Number(last) } : null;
}

class CoalescedNews implements EventNews {
  private readonly connection: StoreConnection;
  private readonly waiting = new Map<ConversationId, string>();
  private telling: Promise<void> | null = null;

  constructor(connection: StoreConnection) {
    this.connection = connection;
  }

  grown(id: ConversationId, lastSequence: number): void {
    if (this.waiting.get(id) !== GONE) this.tell(id, String(lastSequence));
  }

  gone(id: ConversationId): void {
    this.tell(id, GONE);
  }

  async close(): Promise<void> {
    await this.telling;
    await this.send();
  }

  private tell(id: ConversationId, news: string): void {
    // The newest number includes all before it.
    this.waiting.set(id, news);
    this.telling ??= this.sendAll().finally(() => {
      this.telling = null;
    });
  }

  private async sendAll(): Promise<void> {
    while (this.waiting.size > 0) {
      await this.send();
      await new Promise((resolve) => setTimeout(resolve, EVERY_MS).unref());
    }
  }

  /** Followers find what could not be sent at their next poll. */
  private async send(): Promise<void> {
    const news = [...this.waiting].slice(0, NEWS_MAX);
    if (news.length === 0) return;
    for (const [id] of news) this.waiting.delete(id);
    const payloads = JSON.stringify(news.map(([id, last]) => `${id} ${last}`));
    await this.connection
      .read('tell of events', (db) =>
        sql`select pg_notify(${EVENT_CHANNEL}, payload) from json_array_elements_text(${payloads}::json) payload`.execute(
          db,
        ),
      )
      .catch(() => undefined);
  }
}
