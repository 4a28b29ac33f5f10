/**
 * A bound on how much happens at once, of each owner and of all together.
 * Owns counting and the queue; must not know what passes.
 */
import { OwnerCounts } from './owner-counts.ts';

/** Lets so many in at once; the waiting come in by arrival, past those whose owner has no place left. */
export interface Turnstile {
  /** `admitted` is called when it is the caller's turn, with what ends the turn. False when too many wait already. */
  enter(owner: string, admitted: (leave: () => void) => void): boolean;
}

export interface TurnstileBounds {
  readonly insideMax: number;
  readonly waitingMax: number;
  /** Inside at once of one owner; of those that wait it may have four for each. Absent: as many as there are. */
  readonly perOwnerMax?: number;
}

interface Waiting {
  readonly owner: string;
  admit(): void;
}

/** Of one owner for each place that it may have: a burst of its own tools, and no more of the queue. */
const WAITING_PER_PLACE = 4;

/** It begins empty. */
export function createTurnstile(bounds: TurnstileBounds): Turnstile {
  const { insideMax, waitingMax, perOwnerMax = Infinity } = bounds;
  const inside = new OwnerCounts();
  const waiting: Waiting[] = [];
  /** Leaving twice must not let two in. */
  const once = (owner: string): (() => void) => {
    let left = false;
    return () => {
      if (left) return;
      left = true;
      inside.add(owner, -1);
      const next = waiting.findIndex((one) => inside.of(one.owner) < perOwnerMax);
      if (next !== -1) waiting.splice(next, 1)[0]?.admit();
    };
  };
  return {
    enter(owner, admitted) {
      const admit = (): void => {
        inside.add(owner, 1);
        admitted(once(owner));
      };
      if (inside.all < insideMax && inside.of(owner) < perOwnerMax) {
        admit();
        return true;
      }
      const own = waiting.filter((one) => one.owner === owner).length;
      if (waiting.length >= waitingMax || own >= perOwnerMax * WAITING_PER_PLACE) return false;
      waiting.push({ owner, admit });
      return true;
    },
  };
}
