/**
 * GitLab through its best-kept client; a pull request is a merge request there.
 * Owns which routes are asked and what of their answers is read.
 */
import { createRequesterFn, type OptionsHandlerFn, type RequestOptions } from '@gitbeaker/requester-utils';
import { Gitlab } from '@gitbeaker/rest';
import { z } from 'zod';
import type { IssueState } from '../../../core/plan/plan-issue.ts';
import { COMMENTS_MAX, PAGE_ITEMS } from './api-limits.ts';
import {
  anyText,
  collected,
  draftTitle,
  opened,
  paged,
  parsed,
  readAnswer,
  repository,
  unwanted,
  wholeNumber,
  type HostClient,
  type HostClientOptions,
  type HostComment,
  type HostPullRequest,
  type IssueCalls,
  type ListedIssue,
  type PullCalls,
} from './host-client.ts';

const author = z
  .object({ username: z.string() })
  .nullish()
  .transform((one) => one?.username ?? '');
const issue = z.object({
  iid: wholeNumber,
  title: z.string(),
  description: anyText,
  web_url: z.string(),
  author,
  state: z.enum(['opened', 'closed']),
  labels: z.array(z.string()),
  user_notes_count: z.int().min(0).default(0),
});
const note = z.object({
  id: wholeNumber,
  author,
  created_at: z.string(),
  body: anyText,
  system: z.boolean().default(false),
});
const mergeRequest = z.object({
  iid: wholeNumber,
  web_url: z.string(),
  state: z.enum(['opened', 'closed', 'locked', 'merged']),
  title: z.string(),
  description: anyText,
});
const users = z.array(z.object({ id: wholeNumber, username: z.string() }));

/** By it GitLab knows a draft. */
const DRAFT_PREFIX = 'Draft: ';
const STATES = { open: 'opened', closed: 'closed', all: undefined } as const satisfies Record<
  IssueState,
  unknown
>;

export function createGitlabClient(options: HostClientOptions, name: string): HostClient {
  const { url, token, doing } = options;
  const gitlab = new Gitlab({
    // The client adds the version of the interface itself.
    host: url.replace(/\/api\/v4$/, ''),
    ...(token === null ? {} : { token }),
    queryTimeout: null,
    requesterFn: requesterOf(options),
  } as ConstructorParameters<typeof Gitlab>[0]);
  return { ...issueCalls({ gitlab, name, doing }), ...pullCalls({ gitlab, name, doing }) };
}

interface Tools extends Pick<HostClientOptions, 'doing'> {
  readonly gitlab: InstanceType<typeof Gitlab>;
  /** `group/project`. */
  readonly name: string;
}

function issueCalls({ gitlab, name, doing }: Tools): IssueCalls {
  const notes = (iid: number) =>
    paged(async (page) => {
      const order = { sort: 'asc', orderBy: 'created_at' } as const;
      const asked = gitlab.IssueNotes.all(name, iid, { ...onePage(page), ...order });
      return readAnswer(z.array(note), await asked, { doing });
    });
  return {
    async issues({ labels, state, limit }) {
      const only = STATES[state] === undefined ? {} : { state: STATES[state] };
      const listed = paged(async (page) => {
        const asked = gitlab.Issues.all({
          projectId: name,
          ...only,
          ...(labels.length === 0 ? {} : { labels: labels.join(',') }),
          orderBy: 'created_at',
          sort: 'desc',
          ...onePage(page),
        });
        return readAnswer(z.array(issue), await asked, { doing });
      });
      return await collected(listed, limit, toIssue);
    },
    comments: async (iid) =>
      await collected(notes(iid), COMMENTS_MAX, (one) => (one.system ? null : toComment(one))),
    async commentEndingWith(iid, end) {
      const ending = (one: z.infer<typeof note>) =>
        one.body.trimEnd().endsWith(end) ? toComment(one) : null;
      return (await collected(notes(iid), 1, ending))[0] ?? null;
    },
    async addComment(iid, text) {
      await gitlab.IssueNotes.create(name, iid, text);
    },
    async changeComment(iid, id, text) {
      await gitlab.IssueNotes.edit(name, iid, id, { body: text });
    },
  };
}

function pullCalls({ gitlab, name, doing }: Tools): PullCalls {
  return {
    defaultBranch: async () =>
      readAnswer(repository, await gitlab.Projects.show(name), { doing }).default_branch,
    async pullRequests({ head, base }) {
      const question = { projectId: name, sourceBranch: head, targetBranch: base, ...onePage(1) } as const;
      return readAnswer(z.array(mergeRequest), await gitlab.MergeRequests.all(question), { doing }).map(
        toPull,
      );
    },
    async open({ head, base, title, body, isDraft }) {
      const words = { description: body };
      const made = gitlab.MergeRequests.create(
        name,
        head,
        base,
        draftTitle(title, DRAFT_PREFIX, isDraft),
        words,
      );
      return await opened(made.then((answer) => toPull(readAnswer(mergeRequest, answer, { doing }))));
    },
    async change(known, { title, body }) {
      // Whether it is ready somebody may have said meanwhile.
      const isDraft = known.title.startsWith(DRAFT_PREFIX);
      const words = { title: draftTitle(title, DRAFT_PREFIX, isDraft), description: body };
      await gitlab.MergeRequests.edit(name, known.number, words);
    },
    async addLabels(iid, labels) {
      await gitlab.MergeRequests.edit(name, iid, { addLabels: labels.join(',') });
      return [];
    },
    async askReviewers(iid, reviewers) {
      const known = await Promise.all(
        reviewers.map(async (username) => {
          const found = readAnswer(users, await gitlab.Users.all({ username, ...onePage(1) }), { doing });
          return found.find((one) => one.username === username)?.id ?? null;
        }),
      );
      const ids = known.filter((id) => id !== null);
      if (ids.length > 0) await gitlab.MergeRequests.edit(name, iid, { reviewerIds: ids });
      return reviewers
        .filter((_, at) => known[at] === null)
        .map((username) => `there is no user "${username}"`);
    },
  };
}

const onePage = (page: number) => ({ perPage: PAGE_ITEMS, page, maxPages: 1, showExpanded: false }) as const;

const asTheyAre: OptionsHandlerFn = (_service, options) => Promise.resolve(options);

/** The client's own words and headers, sent by our own `fetch`: its waits and tries are ours. */
function requesterOf(options: HostClientOptions): ReturnType<typeof createRequesterFn> {
  return createRequesterFn(asTheyAre, async (endpoint, given) => {
    const { prefixUrl = '', searchParams = '', method, headers, body } = (given ?? {}) as RequestOptions;
    const query = searchParams === '' ? '' : `?${searchParams}`;
    const answer = await options.fetch(`${prefixUrl.replace(/\/*$/, '/')}${endpoint}${query}`, {
      ...(method === undefined ? {} : { method: method.toUpperCase() }),
      ...(headers === undefined ? {} : { headers }),
      ...(body === undefined ? {} : { body }),
    });
    const text = await answer.text();
    if (!answer.ok) throw unwanted(options, answer.status, text);
    return {
      body: (parsed(text) ?? null) as Record<string, unknown>,
      headers: Object.fromEntries(answer.headers),
      status: answer.status,
    };
  });
}

function toIssue({
  iid,
  description,
  web_url: url,
  state,
  user_notes_count: commentCount,
  ...one
}: z.infer<typeof issue>): ListedIssue {
  const { title, author: by, labels } = one;
  return {
    number: iid,
    title,
    body: description,
    url,
    author: by,
    state: state === 'opened' ? 'open' : 'closed',
    labels,
    commentCount,
  };
}

function toComment({ id, author: by, created_at: at, body }: z.infer<typeof note>): HostComment {
  return { id, author: by, at, body };
}

function toPull({
  iid,
  web_url: url,
  state,
  title,
  description,
}: z.infer<typeof mergeRequest>): HostPullRequest {
  const [isMerged, isClosed] = [state === 'merged', state === 'closed'];
  return {
    number: iid,
    url,
    state: isMerged ? 'merged' : isClosed ? 'closed' : 'open',
    title,
    body: description,
  };
}
