/**
 * What the stand-in for code hosts knows, and what its voices have in common.
 * Owns issues, comments and pull requests in memory; must not know whose words they are said in.
 */
export interface StandInIssue {
  readonly number: number;
  readonly title: string;
  readonly body: string | null;
  readonly state: 'open' | 'closed';
  readonly labels: readonly string[];
  readonly comments: StandInComment[];
}

export interface StandInComment {
  readonly id: number;
  body: string;
}

export interface StandInPull {
  readonly number: number;
  readonly head: string;
  readonly base: string;
  title: string;
  body: string;
  draft: boolean;
  state: 'open' | 'closed' | 'merged';
  labels: readonly string[];
  reviewers: readonly string[];
}

export interface Call {
  readonly method: string;
  /** Below the address of the interface, decoded. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface Said {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: unknown;
}

export interface StandIn {
  /** Of the interface, as `code_hosts.NAME.api.url` has it. */
  readonly url: string;
  readonly origin: string;
  readonly issues: StandInIssue[];
  readonly pulls: StandInPull[];
  /** Labels that the repository knows; GitHub and GitLab make others when they are named. */
  readonly labels: string[];
  readonly users: string[];
  /** Every call, as `GET /repos/…`. */
  readonly calls: string[];
  /** `Authorization` and `PRIVATE-TOKEN` headers as they came. */
  readonly credentials: string[];
  /** Asked before every call: what it gives is said in place of the answer. */
  before: (call: Call) => Said | null | Promise<Said | null>;
  /** Waited for when a call was carried out, and before it is answered. */
  after: (call: Call) => Promise<void>;
  /** Said by the host under whose name the pages are. */
  nextNumber(): number;
  close(): Promise<void>;
}

export type Voice = (host: StandIn, call: Call) => Said | null;

export const OWNER = 'acme';
export const REPOSITORY = 'acme/app';
export const TOKEN = 'planted-api-token';

/** A page of a list, as `page` and one of the words for its size ask for it. */
export function pageOf<T>(all: readonly T[], query: URLSearchParams): readonly T[] {
  const size = Math.min(100, Number(query.get('per_page') ?? query.get('limit') ?? 30));
  const page = Number(query.get('page') ?? 1);
  return all.slice((page - 1) * size, page * size);
}

/** Those that were opened last first, as all three list them. */
export function chosenIssues(
  { issues }: StandIn,
  query: URLSearchParams,
  state: string | null,
): readonly StandInIssue[] {
  const labels = (query.get('labels') ?? '').split(',').filter((name) => name !== '');
  return [...issues]
    .sort((a, b) => b.number - a.number)
    .filter((one) => state === null || one.state === state)
    .filter((one) => labels.every((name) => one.labels.includes(name)));
}

export function addComment(
  host: StandIn,
  issue: StandInIssue | undefined,
  body: unknown,
): StandInComment | null {
  if (issue === undefined) return null;
  const ids = host.issues.flatMap(({ comments }) => comments.map(({ id }) => id));
  const comment = { id: 1 + Math.max(0, ...ids), body: String(body) };
  issue.comments.push(comment);
  return comment;
}

export function commentOf({ issues }: StandIn, id: number): StandInComment | undefined {
  return issues.flatMap(({ comments }) => comments).find((one) => one.id === id);
}

export const AT = '2026-11-20T10:00:00Z';
