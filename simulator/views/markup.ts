/**
 * Numbers on their way into a page.
 * Owns their forms; texts are escaped by the kit of all pages.
 */
import { formatDuration } from '../../dsl/duration.ts';

/** Since the beginning, as in `1h30m`; a dash for what has not come. */
export function sinceText(ms: number | null): string {
  return ms === null ? '-' : formatDuration(ms);
}

/** A coordinate with what can be seen of it. */
export function coordinate(value: number): string {
  return String(Math.round(value * 100) / 100);
}
