/**
 * Whether a sandbox is released: with the last conversation that leaves it, or because its run no longer needs it.
 * Owns the decision on the conversations in it, as they were loaded; must not mark anything.
 */

/** `others`: a conversation that is not the run's is in it, or one whose item goes on. */
export type ClaimOutcome = 'ours' | 'others' | 'busy';

/** A conversation that has just come has no record yet: it is not ours, and at work. */
interface Occupant {
  readonly isOurs: boolean;
  readonly isAtWork: boolean;
}

interface Claim {
  readonly onlyAtRest: boolean;
  /** A place of the run's pool is taken in it. */
  readonly isPlaceTaken: boolean;
}

/** Placement made it, and the last has left: what a user made for its own sake stays (D11). */
export function goesWhenEmpty(attachedCount: number, createdBy: string): boolean {
  return attachedCount === 0 && createdBy === 'placement';
}

/** `busy` only where no agent at work may be disturbed. */
export function claimOf(occupants: readonly Occupant[], { onlyAtRest, isPlaceTaken }: Claim): ClaimOutcome {
  if (onlyAtRest && occupants.some(({ isAtWork }) => isAtWork)) return 'busy';
  return isPlaceTaken || occupants.some(({ isOurs }) => !isOurs) ? 'others' : 'ours';
}
