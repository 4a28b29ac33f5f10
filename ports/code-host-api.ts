/**
 * What a code host knows beside its repositories: issues, and pull requests.
 * Owns the interface; a host's own protocol, and how long it makes callers wait, is the implementation's business.
 */
import type { IssueQuery, IssueRow } from '../core/plan/plan-issue.ts';

/** Which issues of which repository, and with which credential. */
export interface IssueRequest extends Omit<IssueQuery, 'entry'> {
  /** The job's own credential; null for that of the code host. */
  readonly token: string | null;
  /** Called with every longer wait and when it ends, in words for people. */
  onWait(words: string): void;
}

/** The pull request that is to be there for a pushed branch. */
export interface PullRequestRequest {
  /** `provider` null means the deployment's default. */
  readonly repository: { readonly provider: string | null; readonly name: string };
  /** The credential of the run; null for that of the code host. */
  readonly token: string | null;
  /** The branch that was pushed. */
  readonly head: string;
  /** The branch it is to be merged into; null for the one that the repository has by default. */
  readonly base: string | null;
  readonly title: string;
  /** Ends with `marker`. */
  readonly body: string;
  /** Text that no other pull request ends with: by it the run finds its own. */
  readonly marker: string;
  readonly isDraft: boolean;
  readonly labels: readonly string[];
  /** Names of users. */
  readonly reviewers: readonly string[];
  /** The comment on the issue, with the address in place of `{url}`; null writes none. */
  readonly comment: { readonly issue: number; readonly text: string } | null;
  /** Called with every longer wait and when it ends, in words for people. */
  onWait(words: string): void;
}

/** The pull request that is there. */
export interface PullRequestAnswer {
  readonly number: number;
  readonly url: string;
  /** `closed` and `merged`: a person ended it, and it was left alone. */
  readonly state: 'opened' | 'updated' | 'closed' | 'merged';
  /** What is there, but not as the job says: a label the host does not know, a reviewer it does not accept. */
  readonly notes: readonly string[];
}

/** Issues and pull requests of every code host of the deployment. */
export interface CodeHostApi {
  /** The word that is meant. @throws ParleyError invalid_request: there is no such host, or none is the default */
  providerOf(provider: string | null): string;
  /**
   * Issues, never pull requests; those that were opened last first, each text bounded. Waits where the host demands it.
   * @throws ParleyError code_host_refused (no or a wrong credential, not allowed, no such repository, or the host has
   *   no known API), code_host_failed (it does not answer, or not in its own format), invalid_request
   */
  issues(request: IssueRequest): Promise<readonly IssueRow[]>;
  /**
   * Opens a pull request for a branch, or brings the one that is open up to date: a repeat changes nothing. One
   * that is not the run's own, for the same branch, is left alone.
   * @throws ParleyError code_host_refused, code_host_failed, invalid_request as `issues` says
   */
  pullRequest(request: PullRequestRequest): Promise<PullRequestAnswer>;
}
