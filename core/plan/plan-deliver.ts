/**
 * What a plan delivers: a branch for each conversation, and a pull request for each branch.
 * Owns the shapes; what stands in a pull request is in pull-request-text.ts.
 */

/** A branch with what a conversation made, pushed to its repository after collection and before clean-up. */
export interface PlanDeliver {
  /** Name of the branch; `{job}`, `{run}` and `{key}` stand for what they say. */
  readonly branch: string;
  /** Message of the commit, with the same words. */
  readonly message: string;
  /** `succeeded`: only what the agent finished and the check found good; `always`: whatever there is. */
  readonly when: 'succeeded' | 'always';
  /** Absent: a branch is all that is made. */
  readonly pullRequest?: PlanPullRequest;
}

/** A pull request for each branch that is pushed. In its texts words in braces stand for what pull-request-text.ts says. */
export interface PlanPullRequest {
  readonly title: string;
  /** What stands before the summary; empty for nothing. */
  readonly body: string;
  readonly isDraft: boolean;
  readonly labels: readonly string[];
  /** Names of users of the code host. */
  readonly reviewers: readonly string[];
  /** Branch it is to be merged into; null: the one that the conversation starts from, else the repository's own. */
  readonly base: string | null;
  /** What is said at the issue of an item that has one; null says nothing. */
  readonly comment: string | null;
  /** Name of a job secret that holds a credential; null: the one that pushes. */
  readonly tokenSecret: string | null;
}
