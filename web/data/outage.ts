/**
 * Whether the service can be reached, as everything on the page that asks it finds out.
 * Owns since when it cannot, and what the last outage was; whoever asks goes on by itself.
 */
import { useSyncExternalStore } from 'react';
import { isUnreachable } from './problem.ts';

export interface Outage {
  /** Since when nothing answers; null while the service is there. Epoch milliseconds. */
  readonly sinceMs: number | null;
  /** The last one that is over, until somebody has read it. */
  readonly over: { readonly fromMs: number; readonly untilMs: number } | null;
}

let outage: Outage = { sinceMs: null, over: null };
const listeners = new Set<() => void>();

function change(next: Outage): void {
  outage = next;
  for (const told of listeners) told();
}

/** Told of each failed call; what is no sign of an outage changes nothing. */
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

/** Tells when an outage is over, whoever has found it out; the answer ends the telling. */
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
