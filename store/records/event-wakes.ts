/**
 * Wakes the followers of transcripts.
 * Owns that no follower polls while notifications arrive, and that no event is missed: while none arrive every follower
 * polls by itself, and besides one slow poll runs for all.
 */
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { ConversationId } from '../../core/ids.ts';
import type { EventFollower, EventWakes } from '../../ports/event-wakes.ts';
import { safeInteger } from '../sql/column-value.ts';
import type { StoreConnection } from '../sql/connection.ts';
import type { NotificationChannel } from '../sql/notification-channel.ts';
import { readNews } from './event-news.ts';

/** Without notifications an event reaches its followers at most this late. */
const POLL_MS = 200;
/** The delay of an event whose notification was lost, because its process died before sending it. */
const SLOW_POLL_MS = 10_000;
/** Of one slow poll. */
const PAGE = 1_000;

export interface ClosableWakes extends EventWakes {
  close(): Promise<void>;
}

/** For a store without notifications. */
export function polledWakes(): ClosableWakes {
  return {
    follow: () => ({ wait: (_after, signal) => new Waiting(signal, POLL_MS).done, close: () => undefined }),
    close: () => Promise.resolve(),
  };
}

/** The first follower opens the channel. */
export function notifiedWakes(connection: StoreConnection, channel: NotificationChannel): ClosableWakes {
  return new NotifiedWakes(connection, channel);
}

class NotifiedWakes implements ClosableWakes {
  private readonly connection: StoreConnection;
  private readonly channel: NotificationChannel;
  private readonly followers = new Map<string, Set<Follower>>();
  /** Sent over another connection: its return shows that notifications come through. */
  private probe = { text: '', isHeard: false };
  private isHearing = false;
  private slowPoll: NodeJS.Timeout | undefined;

  constructor(connection: StoreConnection, channel: NotificationChannel) {
    this.connection = connection;
    this.channel = channel;
  }

  follow(id: ConversationId): EventFollower {
    this.channel.open({
      onPayload: (payload) => this.heard(payload),
      onListening: (isListening) => this.listening(isListening),
    });
    this.slowPoll ??= setInterval(() => void this.lookForAll(), SLOW_POLL_MS).unref();
    const follower = new Follower(() => (this.isHearing ? null : POLL_MS));
    const own = this.followers.get(id) ?? new Set();
    this.followers.set(id, own.add(follower));
    return {
      wait: (afterSequence, signal) => follower.wait(afterSequence, signal),
      close: () => {
        own.delete(follower);
        if (own.size === 0 && this.followers.get(id) === own) this.followers.delete(id);
      },
    };
  }

  async close(): Promise<void> {
    clearInterval(this.slowPoll);
    await this.channel.close();
  }

  private listening(isListening: boolean): void {
    this.isHearing = false;
    if (isListening) this.sendProbe();
    else this.wakeAll();
  }

  private sendProbe(): void {
    const text = `probe/${randomUUID()}`;
    this.probe = { text, isHeard: false };
    this.connection
      .read('try the notifications', (db) => sql`select pg_notify(${this.channel.name}, ${text})`.execute(db))
      // Then the probe stays unheard.
      .catch(() => undefined);
  }

  private heard(payload: string): void {
    if (payload === this.probe.text) {
      this.probe.isHeard = true;
      if (this.isHearing) return;
      this.isHearing = true;
      // Events may have been stored before notifications arrived.
      return this.wakeAll();
    }
    const news = readNews(payload);
    if (news === null) return;
    for (const follower of this.followers.get(news.id) ?? []) follower.heard(news.sequence);
  }

  private wakeAll(): void {
    for (const own of this.followers.values()) for (const follower of own) follower.heard(Infinity);
  }

  /** Never rejects. One statement for all followers, and a probe that the next poll checks. */
  private async lookForAll(): Promise<void> {
    const ids = [...this.followers.keys()];
    if (ids.length === 0) return;
    // A connection may be dead without notice, or a pooler in between may hold notifications back.
    if (!this.probe.isHeard) return this.channel.reopen();
    this.sendProbe();
    for (let from = 0; from < ids.length; from += PAGE)
      await this.lookFor(ids.slice(from, from + PAGE)).catch(() => undefined);
  }

  private async lookFor(ids: readonly string[]): Promise<void> {
    const last = await this.lastSequences(ids);
    for (const id of ids)
      for (const follower of this.followers.get(id) ?? []) follower.heard(last.get(id) ?? Infinity);
  }

  /** Only of conversations that exist. */
  private async lastSequences(ids: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const rows = await this.connection.read('look for events', (db) =>
      db
        .selectFrom('conversation')
        .leftJoin('transcript', 'transcript.conversation_id', 'conversation.conversation_id')
        .select(['conversation.conversation_id as id', 'transcript.last_sequence as last'])
        .where('conversation.conversation_id', 'in', ids)
        .execute(),
    );
    return new Map(rows.map(({ id, last }) => [id, safeInteger(last ?? 0)]));
  }
}

class Follower {
  private readonly pollMs: () => number | null;
  private after = -1;
  /** The last notified number; Infinity wakes the follower in any case. */
  private news = -1;
  private waiting: Waiting | null = null;

  constructor(pollMs: () => number | null) {
    this.pollMs = pollMs;
  }

  async wait(after: number, signal: AbortSignal): Promise<void> {
    this.after = after;
    if (this.news <= after) {
      this.waiting = new Waiting(signal, this.pollMs());
      await this.waiting.done;
      this.waiting = null;
    }
    this.news = -1;
  }

  heard(sequence: number): void {
    this.news = Math.max(this.news, sequence);
    if (this.news > this.after) this.waiting?.end();
  }
}

/** Until it is ended, the signal fires, or the time is over; null sets none. */
class Waiting {
  readonly done: Promise<void>;
  end: () => void = () => undefined;

  constructor(signal: AbortSignal, ms: number | null) {
    this.done = new Promise((resolve) => {
      const timer = ms === null ? undefined : setTimeout(() => this.end(), ms);
      this.end = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', this.end);
        resolve();
      };
      signal.addEventListener('abort', this.end, { once: true });
      if (signal.aborted) this.end();
    });
  }
}
