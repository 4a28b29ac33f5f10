/**
 * Pushing a branch with the result of a conversation to its repository.
 * Owns the interface; credentials and Git are the implementation's business (D19).
 */

/** A branch that is to be pushed from what a conversation made. */
export interface BranchRequest {
  /** `provider` null means the deployment's default. */
  readonly repository: { readonly provider: string | null; readonly name: string };
  /** The conversation's own credential; null for that of the deployment. */
  readonly token: string | null;
  /** Commit that the patch applies to, as hex digits. */
  readonly baseCommit: string;
  /** As `git diff --binary` writes it; not empty. */
  readonly patch: Uint8Array;
  /** A name that Git takes. */
  readonly branch: string;
  readonly message: string;
  readonly author: { readonly name: string; readonly email: string };
  /** Instant of the commit, in epoch milliseconds; with the fields above it decides its id. */
  readonly at: number;
  /** Commits that this conversation's item pushed before: only these may be replaced. */
  readonly ours: readonly string[];
  /** Called with the id of the commit before anything is pushed, and waited for. */
  announce(commit: string): Promise<void>;
}

/** What is on the branch now. */
export interface DeliveredBranch {
  readonly commit: string;
  /** False: the branch held this commit already. */
  readonly pushed: boolean;
}

/** Pushes the result of one conversation. */
export interface BranchDelivery {
  /**
   * The same request gives the same commit, so that a repeat pushes nothing. Never replaces a commit that is not ours,
   * also not one that arrives meanwhile.
   * @throws ParleyError deliver_failed (the host does not answer), deliver_refused (the branch is not ours, the
   *   patch does not apply, or the host does not allow it), invalid_request as CloneDirectory says
   */
  deliver(request: BranchRequest): Promise<DeliveredBranch>;
}
