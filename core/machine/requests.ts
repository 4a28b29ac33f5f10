/**
 * Seen request ids, so that a repeat is harmless whatever order it comes in.
 * Owns the bounded set; a high-water mark would drop late first deliveries and is not used on purpose.
 */
import { REMEMBERED_REQUESTS_MAX } from '../limits.ts';

/** Ids in order of arrival, oldest first, at most REMEMBERED_REQUESTS_MAX. */
export type SeenRequests = readonly string[];

export function wasSeen(seen: SeenRequests, requestId: string): boolean {
  return seen.includes(requestId);
}

export function remember(seen: SeenRequests, requestId: string): SeenRequests {
  const kept = seen.length >= REMEMBERED_REQUESTS_MAX ? seen.slice(1 - REMEMBERED_REQUESTS_MAX) : seen;
  return [...kept, requestId];
}
