/**
 * The part of a transcript that is in the page: its newest events as they come, or a stretch further back.
 * Owns the bounds, so that a page of ten thousand events is as light as one of a hundred; must not draw.
 */
import type { Client, StreamedEvent } from '../../api/client/client.ts';

/** What is there at first, and what one press adds. */
export const PAGE_EVENTS = 100;
/** More are never in the page: the others are read when the user goes there. */
export const KEPT_EVENTS_MAX = 600;

export interface EventWindow {
  readonly events: readonly StreamedEvent[];
  /** The newest number that is known; numbers begin at 1 and have no gaps. */
  readonly total: number;
  /** New events are added at the end; false while the reader is further back. */
  readonly isLive: boolean;
  /** The first ones have been read. */
  readonly isRead: boolean;
}

export const EMPTY_WINDOW: EventWindow = { events: [], total: 0, isLive: true, isRead: false };

export function earlierCount({ events }: EventWindow): number {
  return (events[0]?.seq ?? 1) - 1;
}

export function laterCount({ events, total }: EventWindow): number {
  return Math.max(0, total - (events.at(-1)?.seq ?? total));
}

/** Events that the stream has brought; one that is known, or that would leave a gap, changes no more than the total. */
export function withStreamed(before: EventWindow, came: readonly StreamedEvent[]): EventWindow {
  const total = Math.max(before.total, came.at(-1)?.seq ?? 0);
  const last = before.events.at(-1)?.seq;
  const fresh = came.filter(({ seq }) => last === undefined || seq > last);
  const first = fresh[0];
  const follows = first !== undefined && (last === undefined || first.seq === last + 1);
  if (!before.isLive || !follows) return { ...before, total, isRead: true };
  return { ...before, events: [...before.events, ...fresh].slice(-KEPT_EVENTS_MAX), total, isRead: true };
}

export function withEarlier(before: EventWindow, came: readonly StreamedEvent[]): EventWindow {
  const events = [...came, ...before.events].slice(0, KEPT_EVENTS_MAX);
  return placed(before, events);
}

export function withLater(before: EventWindow, came: readonly StreamedEvent[]): EventWindow {
  const last = before.events.at(-1)?.seq ?? 0;
  const fresh = came.filter(({ seq }) => seq > last);
  return placed(before, [...before.events, ...fresh].slice(-KEPT_EVENTS_MAX));
}

export function placed(before: EventWindow, events: readonly StreamedEvent[]): EventWindow {
  const total = Math.max(before.total, events.at(-1)?.seq ?? 0);
  return { ...before, events, total, isLive: (events.at(-1)?.seq ?? total) === total };
}

/** Both ends included. */
export interface Stretch {
  readonly from: number;
  readonly until: number;
}

/** One stretch of a transcript, over the same stream that brings new events: it has the numbers. */
export async function readStretch(
  client: Client,
  conversationId: string,
  { from, until, signal }: Stretch & { readonly signal: AbortSignal },
): Promise<readonly StreamedEvent[]> {
  const events: StreamedEvent[] = [];
  if (until < from) return events;
  for await (const event of client.events(conversationId, { afterSeq: from - 1, signal })) {
    if (event.seq > until) break;
    events.push(event);
    if (event.seq === until) break;
  }
  return events;
}
