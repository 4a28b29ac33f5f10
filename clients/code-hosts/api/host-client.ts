/**
 * What each kind of code host is asked, in one set of words.
 * Owns the interface between the rules of this folder and the clients of the hosts.
 */
import { z } from 'zod';
import { ParleyError } from '../../../core/parley-error.ts';
import type { IssueRow, IssueState } from '../../../core/plan/plan-issue.ts';
import { failed, reasonIn, refused, type ApiFetch, type ApiFetchOptions } from './api-fetch.ts';
import { PAGE_ITEMS, PAGES_MAX } from './api-limits.ts';

export interface HostClientOptions extends Pick<ApiFetchOptions, 'doing'> {
  /** Address of the interface, without a slash at its end. */
  readonly url: string;
  /** Null: asked as anybody. */
  readonly token: string | null;
  readonly fetch: ApiFetch;
}

/** An issue as the host lists it; texts are as they came. */
export interface ListedIssue extends Omit<IssueRow, 'comments'> {
  /** So many comments it has, as far as the host says so. */
  readonly commentCount: number;
}

export interface HostComment {
  readonly id: number;
  readonly author: string;
  /** As the host writes an instant. */
  readonly at: string;
  readonly body: string;
}

export interface HostPullRequest {
  readonly number: number;
  readonly url: string;
  readonly state: 'open' | 'closed' | 'merged';
  readonly title: string;
  readonly body: string;
}

interface HostDraft {
  readonly head: string;
  readonly base: string;
  readonly title: string;
  readonly body: string;
  readonly isDraft: boolean;
}

interface IssueSearch {
  readonly labels: readonly string[];
  readonly state: IssueState;
  readonly limit: number;
}

/** Of one repository. Each method throws as CodeHostApi says. */
export interface HostClient {
  /** Those that were opened last first, at most `limit`; never a pull request. */
  issues(search: IssueSearch): Promise<readonly ListedIssue[]>;
  /** Oldest first, at most COMMENTS_MAX. */
  comments(issue: number): Promise<readonly HostComment[]>;
  /** The first comment that ends so; null when there is none. */
  commentEndingWith(issue: number, end: string): Promise<HostComment | null>;
  addComment(issue: number, text: string): Promise<void>;
  changeComment(issue: number, comment: number, text: string): Promise<void>;
  defaultBranch(): Promise<string>;
  /** From this branch of the repository itself into that one, ended ones too. */
  pullRequests(branches: Pick<HostDraft, 'head' | 'base'>): Promise<readonly HostPullRequest[]>;
  /** Null when the host says that there is one already. */
  open(draft: HostDraft): Promise<HostPullRequest | null>;
  change(pull: HostPullRequest, words: Pick<HostDraft, 'title' | 'body' | 'isDraft'>): Promise<void>;
  /** Says what could not be had. */
  addLabels(pull: number, labels: readonly string[]): Promise<readonly string[]>;
  /** Says who could not be asked. */
  askReviewers(pull: number, reviewers: readonly string[]): Promise<readonly string[]>;
}

export type IssueCalls = Pick<
  HostClient,
  'issues' | 'comments' | 'commentEndingWith' | 'addComment' | 'changeComment'
>;
export type PullCalls = Omit<HostClient, keyof IssueCalls>;

/** What a host answers is read by a schema for the one thing expected (D31). @throws ParleyError code_host_failed */
export function readAnswer<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  { doing }: Pick<HostClientOptions, 'doing'>,
): z.infer<Schema> {
  const read = schema.safeParse(value);
  if (read.success) return read.data;
  const place = read.error.issues[0]?.path.join('.') ?? '';
  throw failed(
    { doing },
    `the host does not answer in the words of its kind${place === '' ? '' : ` (at ${place})`}`,
  );
}

/** What a host says no to although the credential is right. */
export function unwanted(options: Pick<HostClientOptions, 'doing'>, status: number, text: string): Error {
  const said = reasonIn(text);
  const why = said === '' ? `the host answered ${status}` : `the host answered ${status}: ${said}`;
  return refused(options, why, 'read the reason; change what the job asks for');
}

export const wholeNumber = z.int().min(1);
/** Of a user, as GitHub and Gitea have it; empty for one that is gone. */
export const login = z
  .object({ login: z.string() })
  .nullish()
  .transform((one) => one?.login ?? '');
export const anyText = z
  .string()
  .nullish()
  .transform((text) => text ?? '');

/** An issue, a comment and a pull request in the words that GitHub and Gitea share. */
export const issueFields = {
  number: wholeNumber,
  title: z.string(),
  body: anyText,
  html_url: z.string(),
  user: login,
  state: z.enum(['open', 'closed']),
  comments: z.int().min(0).default(0),
  pull_request: z.unknown().optional(),
};
export const comment = z
  .object({ id: wholeNumber, user: login, created_at: z.string(), body: anyText })
  .transform(({ id, user: author, created_at: at, body }): HostComment => ({ id, author, at, body }));
export const pullFields = {
  number: wholeNumber,
  html_url: z.string(),
  state: z.enum(['open', 'closed']),
  title: z.string(),
  body: anyText,
};
/** GitLab's too. */
export const repository = z.object({ default_branch: z.string().min(1) });

type ReadFields<Fields extends z.ZodRawShape> = z.infer<z.ZodObject<Fields>>;

export function toIssue(
  { html_url: url, user: author, comments, ...one }: ReadFields<typeof issueFields>,
  labels: readonly string[],
): ListedIssue {
  const { number, title, body, state } = one;
  return { number, title, body, url, author, state, labels, commentCount: comments };
}

export function toPull(
  { number, html_url: url, state, title, body }: ReadFields<typeof pullFields>,
  isMerged: boolean,
): HostPullRequest {
  return { number, url, state: isMerged ? 'merged' : state, title, body };
}

/** Entries of a list that a host gives in pages, asked for as they are taken. */
export async function* paged<Entry>(
  pageOf: (page: number) => Promise<readonly Entry[]>,
  isLast = (entries: readonly Entry[]): boolean => entries.length < PAGE_ITEMS,
): AsyncGenerator<Entry> {
  for (let page = 1; page <= PAGES_MAX; page += 1) {
    const entries = await pageOf(page);
    yield* entries;
    if (isLast(entries)) return;
  }
}

/** What `make` makes of entries, at most `max`; those it makes null of are passed over. */
export async function collected<Entry, Made>(
  entries: AsyncIterable<Entry>,
  max: number,
  make: (entry: Entry) => Made | null,
): Promise<Made[]> {
  const found: Made[] = [];
  for await (const entry of entries) {
    const made = make(entry);
    if (made !== null) found.push(made);
    if (found.length === max) break;
  }
  return found;
}

/** Null where the host says that there is one already. */
export async function opened(making: Promise<HostPullRequest>): Promise<HostPullRequest | null> {
  try {
    return await making;
  } catch (error) {
    if (error instanceof ParleyError && /already exists/i.test(error.message)) return null;
    throw error;
  }
}

/** Some hosts know a draft by the beginning of its title. */
export function draftTitle(title: string, prefix: string, isDraft: boolean): string {
  return isDraft && !title.startsWith(prefix) ? `${prefix}${title}` : title;
}

/** Undefined for what is no JSON, which no schema takes. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
