/**
 * What a conversation of a plan takes from code hosts: the repository it works on, and its plugins.
 * Owns their shape; what a clone makes of them is the activity's.
 */

/** What an item's sandbox has cloned before its agent begins. */
export interface PlanRepository {
  /** `owner/name`, resolved through `code_hosts` of the deployment (D19). */
  readonly name: string;
  readonly branch: string | null;
  /** Tag, or id of a commit, to start from in place of a branch; absent for none. */
  readonly ref?: string;
  /** True: what its submodules are is fetched. */
  readonly submodules?: true;
  /** True: what Git LFS keeps of it is fetched. */
  readonly lfs?: true;
  /** Provider key in `code_hosts`; null means the deployment's default. */
  readonly host: string | null;
  /** Name of a job secret holding a credential for this host; null for none. */
  readonly tokenSecret: string | null;
  /** Author of the agent's commits; absent means the deployment's (D19). */
  readonly author?: { readonly name: string; readonly email: string };
}

/** A plugin attached to a conversation. */
export interface PlanPlugin {
  /** Repository that holds it, `owner/name`. */
  readonly source: string;
  /** Branch or tag; null for the default branch. */
  readonly ref: string | null;
  /** Folder in the repository; null for its root. */
  readonly path: string | null;
}
