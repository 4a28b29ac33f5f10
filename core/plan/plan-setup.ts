/**
 * What a plan says of the command that prepares a repository for its agent.
 * Owns the shape only.
 */

/** A command run after the clone and before the agent; one that fails ends the start. */
export interface PlanSetup {
  readonly command: string;
  readonly timeoutMs: number;
  /**
   * Files of the repository that decide whether what an earlier run of the command made in the same sandbox still
   * holds. Absent: the lock files that there are. Empty: nothing is kept.
   */
  readonly cache?: readonly string[];
}
