/**
 * Whether the service can be reached, as every request of the page finds out.
 * Owns since when it cannot, and what the last outage was; each part of the page repeats its own requests.
 */
import { useSyncExternalStore } from 'react';
import { isUnreachable } from './problem.ts';

export interface Outage {
  /** Since when nothing answers; null while the service is there. Epoch milliseconds. */
  readonly sinceMs: number | null;
  /** The last one that is over, until the user has read it. */
  readonly over: { readonly fromMs: number; readonly untilMs: number } | null;
}

let outage: Outage = { sinceMs: null, over: null };
const listeners = new Set<() => void>();

function change(next: Outage): void {
  outage = next;
  for (const told of listeners) told();
}

/** Called for each failed call; what is no sign of an outage changes nothing. */
export function reportProblem(error: unknown): void {
  if (outage.sinceMs === null && isUnreachable(error)) change({ ...outage, sinceMs: Date.now() });
}

export function reportAnswer(): void {
  const { sinceMs } = outage;
  if (sinceMs !== null) change({ sinceMs: null, over: { fromMs: sinceMs, untilMs: Date.now() } });
}

export function forgetOutage(): void {
  if (outage.over !== null) change({ ...outage, over: null });
}

/** Calls `told` each time an outage is over, whichever request found it out; the returned function ends that. */
export function onBack(told: () => void): () => void {
  let wasAway = outage.sinceMs !== null;
  return listen(() => {
    const isAway = outage.sinceMs !== null;
    if (wasAway && !isAway) told();
    wasAway = isAway;
  });
}

export function useOutage(): Outage {
  return useSyncExternalStore(listen, () => outage);
}

function listen(onChange: () => void): () => void {
  listeners.add(onChange);
  return () => void listeners.delete(onChange);
}
