/**
 * A conversation's events as they come, behind a sequence number (spec "Events").
 * Owns the following: every event once and in order, from the log itself, so that a client that was away misses nothing.
 */
import type { ConversationId, UserId } from '../../core/ids.ts';
import type { EventFollower } from '../../ports/event-wakes.ts';
import type { StoredEvent } from '../../ports/record-store.ts';
import type { Application } from '../application/application.ts';

const PAGE_EVENTS = 100;
/** Feeds of one user at once, in this process: each keeps a connection, and where nothing wakes it a query. */
const FEEDS_MAX = 50;

const open = new Map<UserId, number>();

/** False when the user has as many as are allowed. */
export function openFeed(userId: UserId): boolean {
  const count = open.get(userId) ?? 0;
  if (count >= FEEDS_MAX) return false;
  open.set(userId, count + 1);
  return true;
}

export function closeFeed(userId: UserId): void {
  const count = (open.get(userId) ?? 1) - 1;
  if (count <= 0) open.delete(userId);
  else open.set(userId, count);
}

export interface FeedOptions {
  readonly conversationId: ConversationId;
  readonly afterSequence: number;
  /** Ends it. */
  readonly signal: AbortSignal;
  /** Resolves when the client can take more. */
  tell(event: StoredEvent): Promise<void>;
}

/** Resolves when the conversation is deleted, or the signal fires. */
export async function follow(application: Application, options: FeedOptions): Promise<'deleted' | 'left'> {
  const follower = application.eventWakes.follow(options.conversationId);
  try {
    return await followBy(application, follower, options);
  } finally {
    follower.close();
  }
}

async function followBy(
  { world, eventSearch }: Application,
  follower: EventFollower,
  options: FeedOptions,
): Promise<'deleted' | 'left'> {
  const { conversationId, signal } = options;
  for (let after = options.afterSequence; !signal.aborted;) {
    const page = { afterSequence: after, limit: PAGE_EVENTS, descending: false };
    const events = await eventSearch.searchEvents(conversationId, {}, page);
    for (const event of events) {
      if (signal.aborted) return 'left';
      await options.tell(event);
    }
    after = events.at(-1)?.sequence ?? after;
    if (events.length === PAGE_EVENTS) continue;
    if (events.length === 0 && (await world.records.conversation(conversationId)) === null) return 'deleted';
    await follower.wait(after, signal);
  }
  return 'left';
}

/** From `after_seq`, or the last id that a browser's own stream has seen; 0 for the whole history. */
export function sequenceFrom(text: string | null | undefined): number | null {
  if (text === null || text === undefined || text === '') return 0;
  return /^\d{1,15}$/.test(text) ? Number(text) : null;
}
