/**
 * The client of every kind of code host: one set of calls over the words in which a kind differs.
 * Owns paging, the reading of answers, and what makes a repeat harmless; routes and fields are in the words of a kind.
 */
import { z } from 'zod';
import { ParleyError } from '../../../core/parley-error.ts';
import type { IssueRow, IssueState } from '../../../core/plan/plan-issue.ts';
import { parsedJson } from '../../../core/text/parsed-json.ts';
import { failed, reasonIn, refused, type ApiFetch, type ApiFetchOptions } from './api-fetch.ts';
import { COMMENTS_MAX, PAGE_ITEMS, PAGES_MAX } from './api-limits.ts';

export interface HostClientOptions extends Pick<ApiFetchOptions, 'doing'> {
  /** Address of the interface, without a slash at its end. */
  readonly url: string;
  /** Null: requests are anonymous. */
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
  /** Says which reviewers could not be requested. */
  askReviewers(pull: number, reviewers: readonly string[]): Promise<readonly string[]>;
}

type Query = Readonly<Record<string, string | number | undefined>>;

/** Calls a route, `POST /repos/acme/app/pulls`, and reads its answer. */
export type Ask = <Schema extends z.ZodType>(
  route: string,
  schema: Schema,
  given?: { readonly query?: Query; readonly body?: object },
) => Promise<z.infer<Schema>>;

export interface HostRepository {
  readonly owner: string;
  readonly repo: string;
  /** `group/project`; a group may lie in a group. */
  readonly name: string;
}

/** In what the kinds differ: routes, fields, and the three requests that each answers in its own way. */
export interface HostWords {
  /** Path of the repository. */
  readonly at: string;
  credential(token: string): Readonly<Record<string, string>>;
  /** Null for what is listed as an issue, and is none. */
  readonly issue: z.ZodType<ListedIssue | null>;
  /** Null for what a person did not write. */
  readonly comment: z.ZodType<HostComment | null>;
  readonly pull: z.ZodType<HostPullRequest>;
  pageQuery(page: number): Query;
  /** How many a page has at most is for some servers to say: theirs end with an empty one. */
  readonly endsEmpty: boolean;
  issueQuery(state: IssueState): Query;
  /** A label that the repository does not have is no condition to some. */
  readonly checksLabels: boolean;
  commentsPath(issue: number): string;
  /** Null: all comments come at once. */
  readonly commentQuery: Query | null;
  changeCommentRoute(issue: number, comment: number): string;
  readonly pullsPath: string;
  changePullRoute(pull: number): string;
  /** By it the host knows a draft; null where it is a field. */
  readonly draftPrefix: string | null;
  draftBody(draft: HostDraft): object;
  textBody(text: Pick<HostDraft, 'title' | 'body'>): object;
  pullRequests(ask: Ask, branches: Pick<HostDraft, 'head' | 'base'>): Promise<readonly HostPullRequest[]>;
  addLabels(ask: Ask, pull: number, labels: readonly string[]): Promise<readonly string[]>;
  askReviewers(ask: Ask, pull: number, reviewers: readonly string[]): Promise<readonly string[]>;
}

export function createHostClient(options: HostClientOptions, words: HostWords): HostClient {
  const ask = createAsk(options, words);
  return {
    ...issueCalls(ask, words),
    ...pullCalls(ask, words),
    pullRequests: (branches) => words.pullRequests(ask, branches),
    addLabels: (pull, labels) => words.addLabels(ask, pull, labels),
    askReviewers: (pull, reviewers) => words.askReviewers(ask, pull, reviewers),
  };
}

function issueCalls(ask: Ask, words: HostWords) {
  const comments = (issue: number): AsyncIterable<HostComment | null> =>
    listed(ask, words, { path: words.commentsPath(issue), entry: words.comment, query: words.commentQuery });
  return {
    async issues({ labels, state, limit }: IssueSearch) {
      const query = {
        ...words.issueQuery(state),
        labels: labels.length === 0 ? undefined : labels.join(','),
      };
      const issues = listed(ask, words, { path: `${words.at}/issues`, entry: words.issue, query });
      const isWanted = (one: ListedIssue): boolean =>
        !words.checksLabels || labels.every((name) => one.labels.includes(name));
      return await collected(issues, limit, isWanted);
    },
    comments: (issue: number) => collected(comments(issue), COMMENTS_MAX),
    async commentEndingWith(issue: number, end: string) {
      const isIt = ({ body }: HostComment): boolean => body.trimEnd().endsWith(end);
      return (await collected(comments(issue), 1, isIt))[0] ?? null;
    },
    async addComment(issue: number, body: string) {
      await ask(`POST ${words.commentsPath(issue)}`, z.unknown(), { body: { body } });
    },
    async changeComment(issue: number, comment: number, body: string) {
      await ask(words.changeCommentRoute(issue, comment), z.unknown(), { body: { body } });
    },
  };
}

function pullCalls(ask: Ask, words: HostWords) {
  const prefix = words.draftPrefix ?? '';
  return {
    defaultBranch: async () => (await ask(`GET ${words.at}`, repository)).default_branch,
    async open(draft: HostDraft) {
      const title = draftTitle(draft.title, prefix, draft.isDraft);
      const body = words.draftBody({ ...draft, title });
      try {
        return await ask(`POST ${words.pullsPath}`, words.pull, { body });
      } catch (error) {
        if (error instanceof ParleyError && /already exists/i.test(error.message)) return null;
        throw error;
      }
    },
    async change(
      { number, title: before }: HostPullRequest,
      { title, body }: Pick<HostDraft, 'title' | 'body'>,
    ) {
      // Since it was opened a person may have said that it is ready.
      const text = { title: draftTitle(title, prefix, before.startsWith(prefix)), body };
      await ask(words.changePullRoute(number), z.unknown(), { body: words.textBody(text) });
    },
  };
}

function draftTitle(title: string, prefix: string, isDraft: boolean): string {
  return isDraft && !title.startsWith(prefix) ? `${prefix}${title}` : title;
}

/** Waits, tries and bounds are those of `fetch`. */
function createAsk(options: HostClientOptions, words: HostWords): Ask {
  const { url, token, fetch } = options;
  // GitHub refuses a client without a name.
  const headers = {
    ...{ accept: 'application/json', 'user-agent': 'parley' },
    ...(token === null ? {} : words.credential(token)),
  };
  return async (route, schema, { query = {}, body } = {}) => {
    const [method = '', path = ''] = route.split(' ', 2);
    const asked = Object.entries(query).flatMap(([name, value]): [string, string][] =>
      value === undefined ? [] : [[name, String(value)]],
    );
    const address = `${url}${path}${asked.length === 0 ? '' : `?${new URLSearchParams(asked).toString()}`}`;
    const answer =
      body === undefined
        ? await fetch(address, { method, headers })
        : await fetch(address, {
            method,
            headers: { ...headers, 'content-type': 'application/json' },
            body: JSON.stringify(body),
          });
    const text = await answer.text();
    if (!answer.ok) throw unwanted(options, answer.status, text);
    return readAnswer(schema, parsedJson(text), options);
  };
}

interface Listed<Entry> {
  readonly path: string;
  readonly entry: z.ZodType<Entry>;
  /** Null: the list has no pages. */
  readonly query: Query | null;
}

/** Entries of a list, page by page as they are taken. */
export async function* listed<Entry>(
  ask: Ask,
  words: Pick<HostWords, 'pageQuery' | 'endsEmpty'>,
  { path, entry, query }: Listed<Entry>,
): AsyncGenerator<Entry> {
  for (let page = 1; page <= PAGES_MAX; page += 1) {
    const given = query === null ? {} : { query: { ...query, ...words.pageQuery(page) } };
    const entries = (await ask(`GET ${path}`, z.array(entry).nullish(), given)) ?? [];
    yield* entries;
    if (query === null || entries.length < (words.endsEmpty ? 1 : PAGE_ITEMS)) return;
  }
}

/** What a host answers is read by a schema for the one thing expected (D31). @throws ParleyError code_host_failed */
function readAnswer<Schema extends z.ZodType>(
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

/** What a host refuses although the credential is right. */
function unwanted(options: Pick<HostClientOptions, 'doing'>, status: number, text: string): Error {
  const said = reasonIn(text);
  const why = said === '' ? `the host answered ${status}` : `the host answered ${status}: ${said}`;
  return refused(options, why, 'read the reason; change what the job asks for');
}

export const wholeNumber = z.int().min(1);
export const anyText = z
  .string()
  .nullish()
  .transform((text) => text ?? '');

const repository = z.object({ default_branch: z.string().min(1) });

/** Those that are wanted, at most `max`. */
async function collected<Entry>(
  entries: AsyncIterable<Entry | null>,
  max: number,
  isWanted = (_: Entry): boolean => true,
): Promise<Entry[]> {
  const found: Entry[] = [];
  for await (const entry of entries) {
    if (entry !== null && isWanted(entry)) found.push(entry);
    if (found.length === max) break;
  }
  return found;
}
