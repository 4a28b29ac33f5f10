/**
 * Issues of a code host as rows of a plan: read once, and kept with the plan that was made from them.
 * Owns their shape; how they are read is the business of a code host, and what a job makes of them of the language.
 */

/** Whose interface a code host speaks. */
export const CODE_HOST_KINDS = ['github', 'gitlab', 'gitea'] as const;
export type CodeHostKind = (typeof CODE_HOST_KINDS)[number];

/** Which issues of a code host a job may take. */
export const ISSUE_STATES = ['open', 'closed', 'all'] as const;
export type IssueState = (typeof ISSUE_STATES)[number];

/** One issue as it was when the plan was made. Every text is bounded, and may come from any stranger (D31). */
export interface IssueRow {
  readonly number: number;
  readonly title: string;
  readonly body: string;
  /** All comments that were read, oldest first, each behind a line that names its author. */
  readonly comments: string;
  readonly url: string;
  readonly author: string;
  readonly state: 'open' | 'closed';
  readonly labels: readonly string[];
}

/** What a job queries of a code host. */
export interface IssueQuery {
  /** Id of the conversation entry that is run over them. */
  readonly entry: string;
  readonly kind: CodeHostKind;
  /** Key in `code_hosts`. */
  readonly host: string;
  /** `owner/name`. */
  readonly repository: string;
  /** An issue has all of them; empty for any. */
  readonly labels: readonly string[];
  readonly state: IssueState;
  /** Issues at most, from 1; those that were opened last come first. */
  readonly limit: number;
}

/** What one query returned: the rows a plan rests on. */
export interface PlanIssues extends IssueQuery {
  readonly rows: readonly IssueRow[];
}

/** The issue that an item is about. */
export interface PlanIssue {
  /** Key in `code_hosts`. */
  readonly host: string;
  readonly repository: string;
  readonly number: number;
  readonly title: string;
  readonly url: string;
}

/** Whether two queries are one: their answer is the same as long as nothing changes on the host. */
export function isSameQuery(a: IssueQuery, b: IssueQuery): boolean {
  return (
    a.entry === b.entry &&
    a.kind === b.kind &&
    a.host === b.host &&
    a.repository === b.repository &&
    a.state === b.state &&
    a.limit === b.limit &&
    a.labels.length === b.labels.length &&
    a.labels.every((label, at) => label === b.labels[at])
  );
}
